import type { SseFrameBuffer } from '../../platform/http/sse-frame-buffer.js';
import { topLevelMembers, spliceMembers } from '../../platform/http/top-level-members.js';
import { unreadable } from '../upstream-error.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/** An escaped surrogate pair, which is one character, from its first `u` on. */
const ESCAPED_PAIR = /ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}/iy;

/** The byte order mark, which a stream may begin with: read as UTF-8, and as three Latin-1 characters. */
const BYTE_ORDER_MARK = 0xfeff;
const BYTE_ORDER_MARK_LATIN1 = '\u00ef\u00bb\u00bf';

/**
 * The bytes of the events that are whole now; undefined while none is.
 *
 * @throws UpstreamError `unreadable` when an event grows beyond the buffer's limit
 */
export function cutFrames(frames: SseFrameBuffer, chunk: Buffer): Buffer | undefined {
  try {
    return frames.push(chunk);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unreadable(error.message);
  }
}

/**
 * Whole server-sent events, without a byte order mark and with the line breaks that the readers
 * search for.
 *
 * @param frames decoded as UTF-8 or as Latin-1
 */
export function normalizeFrames(frames: string): string {
  const text = frames.includes('\r') ? frames.replaceAll('\r\n', '\n') : frames;
  const markLength = byteOrderMarkLength(text);
  return markLength === 0 ? text : text.slice(markLength);
}

/** How many characters of a text, decoded as UTF-8 or as Latin-1, are a byte order mark. */
export function byteOrderMarkLength(text: string): number {
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) return 1;
  return text.startsWith(BYTE_ORDER_MARK_LATIN1) ? BYTE_ORDER_MARK_LATIN1.length : 0;
}

/**
 * The data lines of one server-sent event; comments and other fields are left out. A line break can
 * only stand between two JSON tokens, where a space does as well and keeps the event on one line.
 *
 * @param frame the event's lines, without the blank line at its end
 */
export function eventData(frame: string): string {
  const first = frame.startsWith('data:') ? 0 : frame.indexOf('\ndata:') + 1;
  if (first === 0 && !frame.startsWith('data:')) return '';
  const end = frame.indexOf('\n', first);
  if (end === -1) return frame.slice(first + 'data:'.length).trim();
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join(' ')
    .trim();
}

/** Offset of what stands in a text exactly once; -1 when it is missing or stands there again. */
export function offsetOfOnly(text: string, needle: string): number {
  const offset = text.indexOf(needle);
  if (offset === -1) return -1;
  return text.indexOf(needle, offset + needle.length) === -1 ? offset : -1;
}

/**
 * What `text.startsWith(part, offset)` tells. V8 compares that character by character, which for
 * the hundred that events have in common takes seven times as long as comparing a slice.
 */
export function standsAt(text: string, part: string, offset: number): boolean {
  return text.slice(offset, offset + part.length) === part;
}

/**
 * Finds the end of a JSON string in text that was decoded as Latin-1 (one character per UTF-8 byte).
 *
 * @param start offset after the opening quote
 * @returns offset of the closing quote (-1 when there is none) and the string's code points
 */
export function scanJsonString(latin1: string, start: number): { end: number; characters: number } {
  let characters = 0;
  for (let index = start; index < latin1.length; index++) {
    const byte = latin1.charCodeAt(index);
    if (byte === QUOTE) return { end: index, characters };
    if (byte === BACKSLASH) {
      characters++;
      index++;
      if (latin1.charCodeAt(index) !== LOWER_U) continue;
      ESCAPED_PAIR.lastIndex = index;
      index += ESCAPED_PAIR.test(latin1) ? 'uXXXX\\uXXXX'.length - 1 : 'uXXXX'.length - 1;
    } else if ((byte & 0xc0) !== 0x80) {
      characters++; // Continuation bytes of UTF-8 belong to the character before.
    }
  }
  return { end: -1, characters };
}

/** The UTF-8 bytes of a text, one character per byte. */
export function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/**
 * A JSON object's text with some members exchanged, the others as they were written.
 *
 * @param json decoded as Latin-1, as what is returned
 * @param edits JSON by member; undefined leaves the member out
 */
export function spliceLatin1(json: string, edits: ReadonlyMap<string, string | undefined>): string {
  const bytes = Buffer.from(json, 'latin1');
  return spliceMembers(bytes, topLevelMembers(bytes), edits).toString('latin1');
}
