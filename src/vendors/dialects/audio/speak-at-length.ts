import { countCodePoints, estimateTokens } from '../../../canonical/prompt-size.js';
import type { AudioPiece, SpeechRequest } from '../../../canonical/work-request.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import { AudioFormatError } from '../../../platform/audio/audio-joiner.js';
import { joinAudio } from '../../../platform/audio/join-audio.js';
import type { MediaResult } from '../../media-work.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import type { UpstreamWork, WorkCall } from '../../upstream.js';
import { vendorFields } from '../media/media-fields.js';
import { BoundedBytes } from '../media/media-file.js';

/** Coarse to fine: split at a sentence, else at a word, else at a grapheme. */
const GRAINS = ['sentence', 'word', 'grapheme'] as const;

/** Text after a boundary can affect it. */
const LOOKAHEAD_UNITS = 64;

/** Several days of speech in the usual formats. */
const MAX_SPEECH_BYTES = 1024 * 1024 * 1024;

type Speak = (call: WorkCall<SpeechRequest>) => UpstreamWork<AudioPiece>;

/**
 * Generates speech of any length as one file. A text that is too long for one call is spoken in several,
 * sequentially and no faster than the file is read. The first call has begun to answer when this resolves.
 *
 * @param maxCharacters code points per call
 * @throws UpstreamError when the first call fails
 */
export async function speakAtLength(
  call: WorkCall<SpeechRequest>,
  maxCharacters: number,
  speak: Speak,
): Promise<MediaResult> {
  const file = new SpokenFile(call, splitSpeech(call.request.text, maxCharacters), speak);
  const contentType = await file.begin();
  return {
    state: 'done',
    files: [{ contentType, bytes: new BoundedBytes(file, MAX_SPEECH_BYTES, unreadableAudio) }],
    get usage() {
      return file.usage;
    },
    get usageSource() {
      return file.usage && file.isEstimated ? 'estimated' : undefined;
    },
  };
}

class SpokenFile implements AsyncIterable<Buffer>, AsyncIterator<Buffer> {
  isEstimated = false;
  private audioMs: number | undefined;
  private first: AsyncIterator<Buffer> | undefined;
  private firstBytes: IteratorResult<Buffer> | undefined;
  private contentType = 'application/octet-stream';
  private readonly joined: AsyncIterator<Buffer>;

  constructor(
    private readonly call: WorkCall<SpeechRequest>,
    private readonly texts: readonly string[],
    private readonly speak: Speak,
  ) {
    const { format } = call.request;
    // A streamed WAV header claims any length, so even a single one is rewritten.
    const isWhole = texts.length === 1 && format !== 'wav';
    this.joined = isWhole ? this.firstPiece() : joinAudio(format, this.pieces());
  }

  /** Duration of the audio if it is billed; the request already has the text. */
  get usage(): Usage | undefined {
    const { audioMs } = this;
    return audioMs === undefined ? undefined : { ...this.call.request.estimate, audioMs };
  }

  /** Waits for the first call's first bytes. @returns the file's content type */
  async begin(): Promise<string> {
    const [text] = this.texts;
    if (text === undefined) {
      throw new UpstreamError({
        failure: 'caller',
        message: 'The text is blank; send text to speak.',
        param: 'input',
      });
    }
    this.first = this.bytesOf(text);
    this.firstBytes = await this.first.next();
    if (this.firstBytes.done) {
      throw unreadable('an answer without audio');
    }
    return this.contentType;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer>> {
    return this.joined.next();
  }

  async return(): Promise<IteratorResult<Buffer>> {
    // A generator that has not started ignores its end, but the first call may be open by then.
    await this.joined.return?.();
    await this.first?.return?.();
    return { done: true, value: undefined };
  }

  private async *pieces(): AsyncGenerator<AsyncIterable<Buffer>> {
    yield this.firstPiece();
    for (const text of this.texts.slice(1)) yield this.bytesOf(text);
  }

  private async *firstPiece(): AsyncGenerator<Buffer> {
    const { first } = this;
    if (!first) return;
    try {
      for (let bytes = this.firstBytes; bytes && !bytes.done; bytes = await first.next()) {
        yield bytes.value;
      }
    } finally {
      await first.return?.();
    }
  }

  private async *bytesOf(text: string): AsyncGenerator<Buffer> {
    const { events } = this.speak({ ...this.call, request: pieceOf(this.call.request, text) });
    for await (const event of events) {
      if (event.type === 'usage') this.count(event);
      if (event.type !== 'output') continue;
      this.contentType = event.output.contentType;
      yield event.output.bytes;
    }
  }

  private count({ usage, source }: Extract<WorkEvent<AudioPiece>, { type: 'usage' }>): void {
    this.audioMs = (this.audioMs ?? 0) + usage.audioMs;
    if (source === 'estimated') this.isEstimated = true;
  }
}

/** Returns the request for one piece, without fields of the whole. */
function pieceOf(request: SpeechRequest, text: string): SpeechRequest {
  const { value } = request.body;
  const inputCharacters = countCodePoints(text);
  const estimate = {
    ...NO_USAGE,
    inputCharacters,
    inputBytes: Buffer.byteLength(text),
    inputTokens: estimateTokens(inputCharacters + countCodePoints(request.instructions ?? '')),
  };
  return {
    ...request,
    text,
    estimate,
    ceiling: estimate,
    body: {
      value: {
        ...Object.fromEntries(vendorFields(value)),
        input: text,
        ...(value.response_format != null && { response_format: request.format }),
      },
    },
  };
}

function unreadableAudio(error: unknown): unknown {
  if (!(error instanceof AudioFormatError)) return error;
  const message = `audio that cannot be joined: ${error.message}`;
  return new UpstreamError({ failure: 'unreadable', message }, { cause: error });
}

/**
 * Splits a text into pieces that a model accepts, at ends of sentences in any script. Longer sentences are
 * split between words, longer words between graphemes. Blank pieces are dropped.
 *
 * @param maxCharacters code points per piece
 */
export function splitSpeech(text: string, maxCharacters: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = endOf(text, start, maxCharacters);
    pieces.push(text.slice(start, end).trim());
    start = end;
  }
  return pieces.filter((piece) => piece !== '');
}

/**
 * Returns where the piece from `start` ends. Considers only text that can belong to it, because finding
 * boundaries takes quadratic time.
 */
function endOf(text: string, start: number, maxCharacters: number): number {
  const limit = skipCodePoints(text, start, maxCharacters);
  if (limit === text.length) return limit;
  const near = text.slice(start, limit + LOOKAHEAD_UNITS);
  for (const granularity of GRAINS) {
    let end = start;
    for (const { index } of new Intl.Segmenter(undefined, { granularity }).segment(near)) {
      if (start + index > limit) break;
      end = start + index;
    }
    if (end > start) return end;
  }
  // One grapheme with thousands of marks; its code points stay whole.
  return limit;
}

function skipCodePoints(text: string, start: number, count: number): number {
  let position = start;
  for (let index = 0; index < count && position < text.length; index++) {
    position += text.codePointAt(position)! > 0xffff ? 2 : 1;
  }
  return position;
}
