import type { JsonObject } from '../../../platform/http/json-body.js';
import type { MediaFile } from '../../media-work.js';
import { unreadable } from '../../upstream-error.js';
import { parseAnswerObject } from '../answer-json.js';
import { BoundedBytes, sniffContentType } from './media-file.js';
import type { MediaStay } from './media-room.js';
import { TextCutter } from './text-cutter.js';

/** Enough for an address's beginning and the first bytes of a file. */
const HEAD_BYTES = 256;
const DATA_URL = /^data:[^,]{0,100};base64,/;
const PADDING = /={0,2}$/;

/** A vendor's JSON with files in it, which are no strings, but the bytes that came. */
export class MediaAnswer {
  private constructor(
    readonly json: JsonObject,
    private readonly texts: ReadonlyMap<unknown, readonly Buffer[]>,
  ) {}

  /**
   * @param what what it should be, for the log
   * @param stay where it is in memory
   * @throws UpstreamError `unreadable` for what is not JSON, too much of it, or of more than `maxBytes`; and what the
   *   source throws
   */
  static async read(
    source: AsyncIterable<Buffer>,
    what: string,
    maxBytes: number,
    stay: MediaStay,
  ): Promise<MediaAnswer> {
    const cutter = new TextCutter();
    for await (const chunk of new BoundedBytes(source, maxBytes)) {
      await stay.take(chunk.length);
      cutter.add(chunk);
    }
    const { json, texts } = cutter.end();
    return new MediaAnswer(parseAnswerObject(json.toString('utf8'), what), texts);
  }

  /** Whether an address has the file in it. */
  isFile(member: string): boolean {
    return this.texts.has(member) || DATA_URL.test(member);
  }

  /**
   * A file that a member spells out in base64, also as an address with the file in it.
   *
   * @param contentType as the vendor names it; undefined: its first bytes tell
   * @throws UpstreamError `unreadable` for an empty file, one that is too large, and one that nobody can name; for what
   *   is no base64 when it is read
   */
  fileOf(member: unknown, contentType: string | undefined, maxBytes: number): MediaFile {
    if (typeof member !== 'string') throw unreadable('a file that is no base64');
    const text = this.texts.get(member) ?? [Buffer.from(member)];
    const head = Buffer.concat(
      text.slice(0, HEAD_BYTES).map((piece) => piece.subarray(0, HEAD_BYTES)),
    )
      .subarray(0, HEAD_BYTES)
      .toString('latin1');
    const start = DATA_URL.exec(head)?.[0].length ?? 0;
    const length = text.reduce((sum, piece) => sum + piece.length, -start);
    if (length === 0) throw unreadable('a file that is no base64');
    if (decodedLength(length) > maxBytes) throw unreadable(`a file of more than ${maxBytes} bytes`);
    const type = contentType ?? sniffContentType(Buffer.from(head.slice(start), 'base64'));
    if (type === undefined) throw unreadable('a file that is neither picture nor video');
    return { contentType: type, bytes: decode(text, start) };
  }
}

/** A piece at a time, so that others have their turn between two. */
async function* decode(text: readonly Buffer[], start: number): AsyncGenerator<Buffer> {
  let left = '';
  let skipped = start;
  for (const piece of text) {
    const part = piece.subarray(skipped);
    skipped -= piece.length - part.length;
    const characters = left + part.toString('latin1');
    // The last group may be padded, which is seen at the end.
    const whole = Math.max(0, characters.length - 4 - (characters.length % 4));
    left = characters.slice(whole);
    if (whole > 0) yield decodeWhole(characters.slice(0, whole));
  }
  const last = decodeWhole(left.replace(PADDING, ''));
  if (last.length > 0) yield last;
}

/** Node passes over what is no base64; there is less of it then. */
function decodeWhole(characters: string): Buffer {
  const bytes = Buffer.from(characters, 'base64');
  if (bytes.length !== decodedLength(characters.length))
    throw unreadable('a file that is no base64');
  return bytes;
}

function decodedLength(characters: number): number {
  return Math.floor((characters * 3) / 4);
}
