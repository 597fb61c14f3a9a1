import { StringEnd } from '../../../platform/http/json-scanner.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** No address or word in an answer is as long; a file is longer. */
const MIN_CUT_BYTES = 16 * 1024;

/** JSON without its long texts, and these by what stands in their place. */
export interface CutJson {
  readonly json: Buffer;
  /** Each in the pieces that it came in, by the text that is in its place. */
  readonly texts: ReadonlyMap<string, readonly Buffer[]>;
}

/**
 * Cuts long texts out of JSON as it comes, without copying them or making strings of them: files in base64 are
 * hundreds of megabytes, which a parser would keep everybody waiting for. A text with an escape in it stays.
 */
export class TextCutter {
  private readonly rest: Buffer[] = [];
  private readonly texts = new Map<string, readonly Buffer[]>();
  /** What has come of a text whose end has not; undefined outside of one. */
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

  /** @returns what stands in its place, which is no base64 */
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
