import { countCodePoints, estimateTokens } from '../../../canonical/prompt-size.js';
import type { AudioPiece, SpeechRequest } from '../../../canonical/work-request.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import { AudioFormatError } from '../../../platform/audio/audio-joiner.js';
import { joinAudio } from '../../../platform/audio/join-audio.js';
import type { MediaDone } from '../../media-work.js';
import { UpstreamError } from '../../upstream-error.js';
import type { UpstreamWork, WorkCall } from '../../upstream.js';
import { vendorFields } from '../media/media-fields.js';
import { BoundedBytes } from '../media/media-file.js';

/** Finest last: where no sentence ends, a word does, and where none does, a character of the reader's. */
const GRAINS = ['sentence', 'word', 'grapheme'] as const;

/** What follows a boundary may have a say in whether it is one. */
const LOOKAHEAD_UNITS = 64;

/** Some days of the usual formats. */
const MAX_SPEECH_BYTES = 1024 * 1024 * 1024;

type Speak = (call: WorkCall<SpeechRequest>) => UpstreamWork<AudioPiece>;

/**
 * Speaks a text of any length, in one file. What is too long for one call is spoken in several, one
 * after the other and no faster than the file is read; the first has begun to answer when this
 * resolves.
 *
 * @param maxCharacters code points that one call takes
 * @throws UpstreamError when the first call fails
 */
export async function speakAtLength(
  call: WorkCall<SpeechRequest>,
  maxCharacters: number,
  speak: Speak,
): Promise<MediaDone> {
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
    // A streamed WAV header claims any length, so that even a single one is written anew.
    const isWhole = texts.length === 1 && format !== 'wav';
    this.joined = isWhole ? this.firstPiece() : joinAudio(format, this.pieces());
  }

  /** Length of the audio where it is what counts; the text is the request's in any case. */
  get usage(): Usage | undefined {
    const { audioMs } = this;
    return audioMs === undefined ? undefined : { ...this.call.request.estimate, audioMs };
  }

  /** Waits for the first call's first bytes. @returns what kind of file it will be */
  async begin(): Promise<string> {
    const [text] = this.texts;
    if (text === undefined) {
      throw new UpstreamError({
        failure: 'caller',
        message: 'There is nothing to be spoken in it.',
        param: 'input',
      });
    }
    this.first = this.bytesOf(text);
    this.firstBytes = await this.first.next();
    if (this.firstBytes.done) {
      throw new UpstreamError({ failure: 'unreadable', message: 'an answer without audio' });
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
    // A generator that has not begun does not hear of its end, and the first call may be open by then.
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

/** The request for one piece, without what only the whole work is about. */
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
 * Cuts a text into pieces that a model takes, at ends of sentences in any script. A sentence that is
 * longer than that is cut between words, a word between characters as readers see them. Pieces that
 * hold no more than blanks are left out.
 *
 * @param maxCharacters code points of a piece
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
 * Where the piece from `start` ends. Only what can belong to it is looked at: the time that finding
 * boundaries takes grows with the square of the text.
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
  // One character with thousands of marks: its code points are kept whole.
  return limit;
}

function skipCodePoints(text: string, start: number, count: number): number {
  let position = start;
  for (let index = 0; index < count && position < text.length; index++) {
    position += text.codePointAt(position)! > 0xffff ? 2 : 1;
  }
  return position;
}
