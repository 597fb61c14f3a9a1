import type { PromptSize } from './canonical-request.js';
import { readMediaSource } from './prompt-parts.js';

/** Assumed characters per token when a vendor reports no count. */
export const CHARACTERS_PER_TOKEN = 4;

/**
 * Tokens are counted in thirds. No tokenizer in use spends more than one token on three ASCII characters
 * of ordinary text, on three bytes of UTF-8, or on any other character of one or two UTF-16 units…
 */
const THIRDS_PER_ASCII = 1;
const THIRDS_PER_CHARACTER = 3;
/** … and four-byte characters, mostly emoji, cost as much as their bytes. */
const THIRDS_PER_PAIR = 4;

/** Upper bounds of input tokens, for the hold. */
export interface MediaTokens {
  /** per picture, at the highest resolution that the model accepts */
  image?: number;
  /** per document page, text and picture together */
  page?: number;
  /** per second of audio */
  audio_second?: number;
}

/** Framing tokens of one message (role, separators). */
export const TOKENS_PER_MESSAGE = 8;

/** Tokens of the vendor's general instructions about tools, apart from the definitions. */
const TOKENS_FOR_TOOLS = 600;

/** Media tokens of a model whose catalogue row has no figures. */
const USUAL_MEDIA_TOKENS: Required<MediaTokens> = { image: 5_000, page: 5_000, audio_second: 32 };

/** Assumed pages of a document that the gateway cannot read, such as one given by URL. */
const UNSEEN_PAGES = 100;
/**
 * A still picture encoded as an hour of video takes a few kilobytes, and vendors bill the seconds. This
 * figure fills any model's context, which bounds the hold.
 */
const PAGES_OF_FILM = 10_000;
/** Recognizes video and audio URLs by their path's extension. */
const FILM_OR_SOUND =
  /^[^?#]*\.(?:3gpp?|aac|avi|flac|flv|m4[av]|mkv|mov|mp[34]|mpe?g|oga|ogg|opus|wav|webm|wmv)(?:[?#]|$)/i;
const PDF_ADDRESS = /^[^?#]*\.pdf(?:[?#]|$)/i;
/** Characters of a URL that are inspected; the payload follows. */
const LONGEST_ADDRESS = 4_096;
/** Base64 characters up to the end of a WAV file's format chunk. */
const WAVE_FORMAT_CHARACTERS = 48;
/** PCM integer, IEEE float, and extensible, which states the codec further on. */
const PLAIN_CODECS: ReadonlySet<number> = new Set([1, 3, 0xfffe]);
/** Approximate compressed size of a page of text. */
const BYTES_PER_PAGE = 3_000;
/** Documents with more pages than this, by size, are scanned for their page count. */
const PAGES_TO_COUNT = 4;
/** Upper bound for media of unknown types. */
const TOKENS_PER_UNKNOWN = 20_000;
/** Shorter strings count as text, whatever they contain. */
const LEAST_MEDIA = 1_000;
/** Base64 prefix of a PDF. */
const PDF_IN_BASE64 = 'JVBERi';
/** Compressed audio is at least 8 kbit/s, uncompressed audio at least 64. */
const COMPRESSED_BYTES_PER_SECOND = 1_000;
const PLAIN_BYTES_PER_SECOND = 8_000;

/** Returns the upper bound of a prompt's input tokens on a model. */
export function promptTokensOf(size: PromptSize, figures: MediaTokens = {}): number {
  const { tokens, images, pages, audioSeconds } = size;
  if (images + pages + audioSeconds === 0) return tokens;
  return (
    tokens +
    images * (figures.image ?? USUAL_MEDIA_TOKENS.image) +
    pages * (figures.page ?? USUAL_MEDIA_TOKENS.page) +
    audioSeconds * (figures.audio_second ?? USUAL_MEDIA_TOKENS.audio_second)
  );
}

/** Adds up the size of a prompt. Never pass base64 of images and files to `addText`. */
export class PromptMeter {
  private thirds = 0;
  private characters = 0;
  private messages = 0;
  private images = 0;
  private pages = 0;
  private audioSeconds = 0;
  private extraTokens = 0;

  addMessage(): void {
    this.messages++;
  }

  addText(text: string): void {
    // All-ASCII text, the common case, is recognized by native code without a loop here.
    const bytes = Buffer.byteLength(text);
    if (bytes === text.length) {
      this.thirds += bytes * THIRDS_PER_ASCII;
      this.characters += bytes;
      return;
    }
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      this.characters++;
      // A surrogate pair is one character, and so is a lone half.
      const isPair = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
      if (isPair) index++;
      this.thirds += isPair
        ? THIRDS_PER_PAIR
        : unit < 0x80
          ? THIRDS_PER_ASCII
          : THIRDS_PER_CHARACTER;
    }
  }

  /** Adds text known only by its length in bytes, such as JSON. */
  addBytes(bytes: number): void {
    this.thirds += bytes * THIRDS_PER_ASCII;
    this.characters += bytes;
  }

  /** Adds a value of unknown type that the model may read. */
  addJson(value: unknown): void {
    this.addText(typeof value === 'string' ? value : JSON.stringify(value));
  }

  /** Adds a part or item of an unknown type: its text, and media of any kind. */
  addUnknown(part: object): void {
    if (isFilm(part)) this.addFilm();
    else this.extraTokens += TOKENS_PER_UNKNOWN;
    this.addText(
      JSON.stringify(part, (_key, value: unknown) =>
        typeof value === 'string' && isMedia(value) ? undefined : value,
      ),
    );
  }

  /** Adds the JSON of tool definitions. */
  addTools(bytes: number): void {
    this.addBytes(bytes);
    this.extraTokens += TOKENS_FOR_TOOLS;
  }

  /**
   * Adds an image source. Vendors accept video and documents as images, so the actual content counts.
   *
   * @param source a URL, a data URL, or base64 of the media type
   */
  addImage(source?: unknown, mediaType?: unknown): void {
    const kind = kindOf(source, mediaType);
    if (kind === undefined || kind === 'image') this.images++;
    else if (kind === 'film') this.addFilm();
    else if (kind === 'sound') this.addAudio(source);
    else this.addPages(source);
  }

  /** @param source as in `addImage`; base64 without a type is a document */
  addDocument(source?: unknown, mediaType?: unknown): void {
    const kind = kindOf(source, mediaType);
    if (kind === 'film') this.addFilm();
    else if (kind === 'sound') this.addAudio(source);
    else this.addPages(source);
  }

  private addPages(source: unknown): void {
    const isHere = typeof source === 'string' && !isAddress(source);
    this.pages += isHere ? boundPages(source) : UNSEEN_PAGES;
  }

  addFilm(): void {
    this.pages += PAGES_OF_FILM;
  }

  /** @param format `wav`, `pcm16`, `mp3`, … */
  addAudio(base64: unknown, format?: unknown): void {
    const bytes = typeof base64 === 'string' ? bytesOfBase64(base64) : 0;
    const isPlain = typeof format === 'string' && format.startsWith('pcm');
    const isWave = typeof base64 === 'string' && isPlainWave(base64);
    const perSecond = isPlain || isWave ? PLAIN_BYTES_PER_SECOND : COMPRESSED_BYTES_PER_SECOND;
    this.audioSeconds += Math.ceil(bytes / perSecond) || 1;
  }

  /** Adds tokens of other parts. */
  addTokens(tokens: number): void {
    this.extraTokens += tokens;
  }

  size(): PromptSize {
    return {
      tokens:
        Math.ceil(this.thirds / THIRDS_PER_CHARACTER) +
        this.messages * TOKENS_PER_MESSAGE +
        this.extraTokens,
      characters: this.characters,
      images: this.images,
      pages: this.pages,
      audioSeconds: this.audioSeconds,
    };
  }
}

/** Bounds a document's pages by its size; a PDF has at most one page per stream. */
function boundPages(base64: string): number {
  const bySize = Math.ceil(bytesOfBase64(base64) / BYTES_PER_PAGE) || 1;
  const data = dataOf(base64);
  if (bySize <= PAGES_TO_COUNT || !data.startsWith(PDF_IN_BASE64)) return bySize;
  const bytes = Buffer.from(data, 'base64');
  let streams = 0;
  for (let at = bytes.indexOf('endstream'); at !== -1; at = bytes.indexOf('endstream', at + 9)) {
    streams++;
  }
  return Math.min(bySize, Math.max(1, streams));
}

/** Returns whether a text has only base64 characters. Texts reach twenty megabytes, so the pattern must not backtrack. */
export function isBase64(text: string): boolean {
  return !/[^\w+/=-]/.test(text);
}

function isMedia(text: string): boolean {
  if (text.length < LEAST_MEDIA) return false;
  return isBase64(dataOf(text));
}

function dataOf(base64: string): string {
  return base64.startsWith('data:') ? base64.slice(base64.indexOf(',') + 1) : base64;
}

/** Returns the kind of media that a source declares; undefined when it does not. */
function kindOf(
  source: unknown,
  mediaType: unknown,
): 'image' | 'film' | 'sound' | 'document' | undefined {
  if (typeof source !== 'string') return undefined;
  // Parsed as for vendors, where bare base64 is a PDF.
  const read = readMediaSource(source);
  const inline = read.kind === 'inline' ? read.mediaType : undefined;
  const type = typeof mediaType === 'string' ? mediaType : inline;
  if (type !== undefined) {
    const [family] = type.trim().toLowerCase().split('/');
    if (family === 'video') return 'film';
    if (family === 'audio') return 'sound';
    return family === 'image' ? 'image' : 'document';
  }
  const start = source.slice(0, LONGEST_ADDRESS);
  // The duration of linked media is unknown here.
  if (FILM_OR_SOUND.test(start)) return 'film';
  return PDF_ADDRESS.test(start) ? 'document' : undefined;
}

function isAddress(text: string): boolean {
  return /^https?:/i.test(text);
}

/** Returns whether it is an uncompressed WAV file of at least 64 kbit/s; WAV can contain any codec. */
function isPlainWave(base64: string): boolean {
  const head = Buffer.from(dataOf(base64).slice(0, WAVE_FORMAT_CHARACTERS), 'base64');
  if (head.length < 36 || head.toString('latin1', 8, 16) !== 'WAVEfmt ') return false;
  const bitsPerSecond = head.readUInt16LE(22) * head.readUInt32LE(24) * head.readUInt16LE(34);
  return PLAIN_CODECS.has(head.readUInt16LE(20)) && bitsPerSecond >= 8 * PLAIN_BYTES_PER_SECOND;
}

function bytesOfBase64(text: string): number {
  return Math.ceil((text.length * 3) / 4);
}

/** Counts code points: a surrogate pair is one, and so is a lone surrogate. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800) continue;
    if ((text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}

/** Estimates the tokens of a text from its code points. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Returns whether a part of a newer kind, such as `video_url`, contains video. */
function isFilm({ type }: { readonly type?: unknown }): boolean {
  return typeof type === 'string' && /video/i.test(type);
}
