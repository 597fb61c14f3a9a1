import { StringEnd } from '../../../platform/http/json-scanner.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Longer than any URL or word in an answer, shorter than any file. */
const MIN_CUT_BYTES = 16 * 1024;

/** JSON with its long strings replaced by placeholders. */
export interface CutJson {
  readonly json: Buffer;
  /** The strings as received pieces, by placeholder. */
  readonly texts: ReadonlyMap<string, readonly Buffer[]>;
}

/**
 * Cuts long strings out of streamed JSON without copying or decoding them: base64 files reach hundreds of
 * megabytes, and parsing those would block everyone. Strings with an escape stay in place.
 */
export class TextCutter {
  private readonly rest: Buffer[] = [];
  private readonly texts = new Map<string, readonly Buffer[]>();
  /** The received part of an unterminated string; undefined outside of one. */
  private open: Buffer[] | undefined;
  private readonly textEnd = new StringEnd();

  add(chunk: Buffer): void {
    let kept = 0;
    let at = 0;
    while (at < chunk.length) {
      const start = this.open ? 0 : chunk.indexOf(QUOTE, at) + 1;
      if (!this.open && start === 0) break;
      const end = this.textEnd.find(chunk, start);
      const piece = chunk.subarray(start, end);
      if (this.open) this.open.push(piece);
      if (end === chunk.length) {
        if (!this.open) this.rest.push(chunk.subarray(kept, start));
        this.open ??= [piece];
        return;
      }
      const text = this.open ?? [piece];
      const isCut = isToBeCut(text);
      if (isCut) this.rest.push(chunk.subarray(kept, start), this.keep(text));
      else if (this.open) for (const part of text) this.rest.push(part);
      if (isCut || this.open) kept = end;
      this.open = undefined;
      at = end + 1;
    }
    this.rest.push(chunk.subarray(kept));
  }

  end(): CutJson {
    return { json: Buffer.concat([...this.rest, ...(this.open ?? [])]), texts: this.texts };
  }

  /** @returns its placeholder, which is not valid base64 */
  private keep(text: readonly Buffer[]): Buffer {
    const name = `#${this.texts.size}`;
    this.texts.set(name, text);
    return Buffer.from(name);
  }
}

function isToBeCut(text: readonly Buffer[]): boolean {
  const length = text.reduce((sum, piece) => sum + piece.length, 0);
  return length >= MIN_CUT_BYTES && !text.some((piece) => piece.includes(BACKSLASH));
}
