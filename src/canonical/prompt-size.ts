import type { PromptSize } from './canonical-request.js';

/** No tokenizer in use spends more than one token on three ASCII characters of ordinary text. */
const ASCII_PER_TOKEN = 3;

/** What a picture costs at most at the usual resolutions, in tokens. */
export const TOKENS_PER_IMAGE = 2_000;

/** What the framing of one message (role, separators) costs. */
export const TOKENS_PER_MESSAGE = 8;

/** Adds up what a prompt measures. Base64 of images and files never goes through `addText`. */
export class PromptMeter {
  private ascii = 0;
  private others = 0;
  private messages = 0;
  private images = 0;
  private extraTokens = 0;

  addMessage(): void {
    this.messages++;
  }

  addText(text: string): void {
    // Text that is all ASCII, the common case, is told by native code without a loop here.
    const bytes = Buffer.byteLength(text);
    if (bytes === text.length) {
      this.ascii += bytes;
      return;
    }
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit < 0x80) this.ascii++;
      else this.others++;
      // A surrogate pair is one character; a lone half is one as well.
      const isPair = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
      if (isPair) index++;
    }
  }

  /** Text known only by its length in bytes, such as the JSON of tool definitions. */
  addBytes(bytes: number): void {
    this.ascii += bytes;
  }

  addImage(): void {
    this.images++;
  }

  /** Tokens of parts that are no text, such as documents and audio. */
  addTokens(tokens: number): void {
    this.extraTokens += tokens;
  }

  size(): PromptSize {
    return {
      tokens:
        Math.ceil(this.ascii / ASCII_PER_TOKEN) +
        this.others +
        this.messages * TOKENS_PER_MESSAGE +
        this.images * TOKENS_PER_IMAGE +
        this.extraTokens,
      characters: this.ascii + this.others,
      images: this.images,
    };
  }
}
