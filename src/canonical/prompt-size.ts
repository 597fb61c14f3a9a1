import type { PromptSize } from './canonical-request.js';
import { readMediaSource } from './prompt-parts.js';

/** What stands for one token where a vendor does not count them. */
export const CHARACTERS_PER_TOKEN = 4;

/**
 * Tokens are counted in thirds: no tokenizer in use spends more than one on three ASCII characters of
 * ordinary text, or on three bytes of UTF-8, or on any other character of one or two units…
 */
const THIRDS_PER_ASCII = 1;
const THIRDS_PER_CHARACTER = 3;
/** … and those of four bytes, emoji above all, cost what their bytes do. */
const THIRDS_PER_PAIR = 4;

/** Input tokens at most, for the bound that a hold is computed from. */
export interface MediaTokens {
  /** per picture, at the finest resolution that the model takes */
  image?: number;
  /** per page of a document, its text and its picture */
  page?: number;
  /** per second of audio */
  audio_second?: number;
}

/** What the framing of one message (role, separators) costs. */
export const TOKENS_PER_MESSAGE = 8;

/** What a vendor tells the model about tools in general, besides the tools themselves. */
const TOKENS_FOR_TOOLS = 600;

/** Media tokens of a model whose catalogue row has no figures of its own. */
const USUAL_MEDIA_TOKENS: Required<MediaTokens> = { image: 5_000, page: 5_000, audio_second: 32 };

/** Pages of a document that nobody here can see, such as one given by its address. */
const UNSEEN_PAGES = 100;
/**
 * A picture that stands still for an hour takes a few kilobytes, and vendors count its seconds: these fill the
 * context of any model, which is what a hold is bounded by.
 */
const PAGES_OF_FILM = 10_000;
/** How an address says what lies there: by what its path ends in. */
const FILM_OR_SOUND =
  /^[^?#]*\.(?:3gpp?|aac|avi|flac|flv|m4[av]|mkv|mov|mp[34]|mpe?g|oga|ogg|opus|wav|webm|wmv)(?:[?#]|$)/i;
const PDF_ADDRESS = /^[^?#]*\.pdf(?:[?#]|$)/i;
/** What of an address can tell, as its bytes follow. */
const LONGEST_ADDRESS = 4_096;
/** Of base64, to the end of the format in a WAV file. */
const WAVE_FORMAT_CHARACTERS = 48;
/** Integers, floating point, and what says so further on. */
const PLAIN_CODECS: ReadonlySet<number> = new Set([1, 3, 0xfffe]);
/** A page of text takes about so many bytes once compressed. */
const BYTES_PER_PAGE = 3_000;
/** Documents with more pages than this, by their size, are worth a look inside. */
const PAGES_TO_COUNT = 4;
/** An upper figure for media of kinds that are not known here. */
const TOKENS_PER_UNKNOWN = 20_000;
/** Shorter strings count as text, whatever they are. */
const LEAST_MEDIA = 1_000;
/** How the base64 of a PDF begins. */
const PDF_IN_BASE64 = 'JVBERi';
/** Compressed audio is not recorded at less than 8 kbit/s, plain audio at less than 64. */
const COMPRESSED_BYTES_PER_SECOND = 1_000;
const PLAIN_BYTES_PER_SECOND = 8_000;

/** The most input tokens that a prompt has on a model. */
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

/** Adds up what a prompt measures. Base64 of images and files never goes through `addText`. */
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
    // Text that is all ASCII, the common case, is told by native code without a loop here.
    const bytes = Buffer.byteLength(text);
    if (bytes === text.length) {
      this.thirds += bytes * THIRDS_PER_ASCII;
      this.characters += bytes;
      return;
    }
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      this.characters++;
      // A surrogate pair is one character; a lone half is one as well.
      const isPair = (unit & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
      if (isPair) index++;
      this.thirds += isPair
        ? THIRDS_PER_PAIR
        : unit < 0x80
          ? THIRDS_PER_ASCII
          : THIRDS_PER_CHARACTER;
    }
  }

  /** Text known only by its length in bytes, such as JSON. */
  addBytes(bytes: number): void {
    this.thirds += bytes * THIRDS_PER_ASCII;
    this.characters += bytes;
  }

  /** A value of which nothing is known but that the model may read it. */
  addJson(value: unknown): void {
    this.addText(typeof value === 'string' ? value : JSON.stringify(value));
  }

  /** A part or item of a type that is not known here: what it says, and media of whatever kind. */
  addUnknown(part: object): void {
    if (isFilm(part)) this.addFilm();
    else this.extraTokens += TOKENS_PER_UNKNOWN;
    this.addText(
      JSON.stringify(part, (_key, value: unknown) =>
        typeof value === 'string' && isMedia(value) ? undefined : value,
      ),
    );
  }

  /** The JSON of tool definitions. */
  addTools(bytes: number): void {
    this.addBytes(bytes);
    this.extraTokens += TOKENS_FOR_TOOLS;
  }

  /**
   * Vendors take films and documents for pictures, too, so that what it is counts.
   *
   * @param source an address, a data URL, or base64 of the media type
   */
  addImage(source?: unknown, mediaType?: unknown): void {
    const kind = kindOf(source, mediaType);
    if (kind === undefined || kind === 'image') this.images++;
    else if (kind === 'film') this.addFilm();
    else if (kind === 'sound') this.addAudio(source);
    else this.addPages(source);
  }

  /** @param source as of a picture; base64 without a type is that of a document */
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

  /** Tokens of parts that are none of these. */
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

/** By the document's size; of a PDF no more than it has streams, since each page has one of its own. */
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

/** Whether a text has base64's characters alone. Of a text of twenty megabytes as well, so without repetitions to go back on. */
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

/** What a source is, as far as it says; undefined: it does not. */
function kindOf(
  source: unknown,
  mediaType: unknown,
): 'image' | 'film' | 'sound' | 'document' | undefined {
  if (typeof source !== 'string') return undefined;
  // As it is read for vendors, to whom bare base64 is a PDF.
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
  // How long what lies there sounds nobody here can see.
  if (FILM_OR_SOUND.test(start)) return 'film';
  return PDF_ADDRESS.test(start) ? 'document' : undefined;
}

function isAddress(text: string): boolean {
  return /^https?:/i.test(text);
}

/** Whether it is a WAV file whose samples are not packed, at 64 kbit/s or more: such files may hold anything. */
function isPlainWave(base64: string): boolean {
  const head = Buffer.from(dataOf(base64).slice(0, WAVE_FORMAT_CHARACTERS), 'base64');
  if (head.length < 36 || head.toString('latin1', 8, 16) !== 'WAVEfmt ') return false;
  const bitsPerSecond = head.readUInt16LE(22) * head.readUInt32LE(24) * head.readUInt16LE(34);
  return PLAIN_CODECS.has(head.readUInt16LE(20)) && bitsPerSecond >= 8 * PLAIN_BYTES_PER_SECOND;
}

function bytesOfBase64(text: string): number {
  return Math.ceil((text.length * 3) / 4);
}

/** Characters as people count them: a surrogate pair is one, a lone surrogate too. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800) continue;
    if ((text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}

/** Tokens of a text of so many characters (code points), where nobody has counted them. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Whether a part of a kind that came later, such as `video_url`, holds a film. */
function isFilm({ type }: { readonly type?: unknown }): boolean {
  return typeof type === 'string' && /video/i.test(type);
}
