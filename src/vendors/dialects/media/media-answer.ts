import type { JsonObject } from '../../../platform/http/json-body.js';
import type { MediaFile } from '../../media-work.js';
import { unreadable } from '../../upstream-error.js';
import { parseAnswerObject } from '../answer-json.js';
import { BoundedBytes, sniffContentType } from './media-file.js';
import type { MediaReservation } from './media-memory.js';
import { TextCutter } from './text-cutter.js';

/** Enough for the start of a data URL and the first bytes of a file. */
const HEAD_BYTES = 256;
const DATA_URL = /^data:[^,]{0,100};base64,/;
const PADDING = /={0,2}$/;

/** A vendor's JSON with embedded files, which stay the received bytes instead of becoming strings. */
export class MediaAnswer {
  private constructor(
    readonly json: JsonObject,
    private readonly texts: ReadonlyMap<unknown, readonly Buffer[]>,
  ) {}

  /**
   * @param what description for the error
   * @param reservation the memory reservation
   * @throws UpstreamError `unreadable` for invalid JSON, too many parts, or more than `maxBytes`; and
   *   whatever the source throws
   */
  static async read(
    source: AsyncIterable<Buffer>,
    what: string,
    maxBytes: number,
    reservation: MediaReservation,
  ): Promise<MediaAnswer> {
    const cutter = new TextCutter();
    for await (const chunk of new BoundedBytes(source, maxBytes)) {
      await reservation.take(chunk.length);
      cutter.add(chunk);
    }
    const { json, texts } = cutter.end();
    return new MediaAnswer(parseAnswerObject(json.toString('utf8'), what), texts);
  }

  /** Returns whether a member is a data URL with a file. */
  isFile(member: string): boolean {
    return this.texts.has(member) || DATA_URL.test(member);
  }

  /**
   * Returns a file that a member contains as base64 or as a data URL.
   *
   * @param contentType as the vendor declares it; undefined: detected by its first bytes
   * @throws UpstreamError `unreadable` for an empty file, one that is too large, or one of unknown type;
   *   for invalid base64 while reading
   */
  fileOf(member: unknown, contentType: string | undefined, maxBytes: number): MediaFile {
    if (typeof member !== 'string') throw unreadable('a file that is not base64');
    const text = this.texts.get(member) ?? [Buffer.from(member)];
    const head = Buffer.concat(
      text.slice(0, HEAD_BYTES).map((piece) => piece.subarray(0, HEAD_BYTES)),
    )
      .subarray(0, HEAD_BYTES)
      .toString('latin1');
    const start = DATA_URL.exec(head)?.[0].length ?? 0;
    const length = text.reduce((sum, piece) => sum + piece.length, -start);
    if (length === 0) throw unreadable('a file that is not base64');
    if (decodedLength(length) > maxBytes) throw unreadable(`a file of more than ${maxBytes} bytes`);
    const type = contentType ?? sniffContentType(Buffer.from(head.slice(start), 'base64'));
    if (type === undefined) throw unreadable('a file that is neither image nor video');
    return { contentType: type, bytes: decode(text, start) };
  }
}

/** Decodes one piece at a time, so that other work can run in between. */
async function* decode(text: readonly Buffer[], start: number): AsyncGenerator<Buffer> {
  let left = '';
  let skipped = start;
  for (const piece of text) {
    const part = piece.subarray(skipped);
    skipped -= piece.length - part.length;
    const characters = left + part.toString('latin1');
    // The last group may be padded; that is checked at the end.
    const whole = Math.max(0, characters.length - 4 - (characters.length % 4));
    left = characters.slice(whole);
    if (whole > 0) yield decodeWhole(characters.slice(0, whole));
  }
  const last = decodeWhole(left.replace(PADDING, ''));
  if (last.length > 0) yield last;
}

/** Decodes base64 strictly. Node skips invalid characters, which shortens the result. */
function decodeWhole(characters: string): Buffer {
  const bytes = Buffer.from(characters, 'base64');
  if (bytes.length !== decodedLength(characters.length))
    throw unreadable('a file that is not base64');
  return bytes;
}

function decodedLength(characters: number): number {
  return Math.floor((characters * 3) / 4);
}
