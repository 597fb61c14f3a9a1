import type { AudioPiece, SpeechRequest } from '../../../canonical/work-request.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { readFailedAnswer, type ClassifyError } from '../failed-answer.js';
import { assertMedia } from '../media/media-file.js';
import { FlacCounter, OggCounter } from '../../../platform/audio/count-sound.js';
import { measuredLength } from '../../../platform/audio/measure-audio.js';
import { ADTS_FRAMES, FrameCounter, MP3_FRAMES } from '../../../platform/audio/mpeg-frames.js';
import { SoundPieces, type SoundCounter } from '../../../platform/audio/sound-counter.js';
import { bytesPerSecond, readWaveHeader, waveLengthMs } from '../../../platform/audio/wave-file.js';

/** Content types of speech formats. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/** Headerless `pcm` is 24 kHz, 16 bits, little-endian, mono. */
export const PCM_FORMAT = { channels: 1, sampleRate: 24_000, bitsPerSample: 16 } as const;

/** A vendor's WAV starts with its header. */
const KEPT_HEADER_BYTES = 4 * 1024;

/** Counters for streamed compressed audio. */
const COUNTERS: ReadonlyMap<string, () => SoundCounter> = new Map<string, () => SoundCounter>([
  ['mp3', () => new FrameCounter(MP3_FRAMES)],
  ['aac', () => new FrameCounter(ADTS_FRAMES)],
  ['opus', () => new OggCounter()],
  ['flac', () => new FlacCounter()],
]);

/** Measures the duration of streamed audio from a vendor. */
export class AudioLengthMeter {
  private head: Buffer = Buffer.alloc(0);
  private totalBytes = 0;
  private readonly pieces: SoundPieces | undefined;

  constructor(private readonly format: string) {
    const counter = COUNTERS.get(format)?.();
    this.pieces = counter && new SoundPieces(counter);
  }

  push(bytes: Buffer): void {
    this.totalBytes += bytes.length;
    this.pieces?.push(bytes);
    const room = this.format === 'wav' ? KEPT_HEADER_BYTES - this.head.length : 0;
    if (room > 0) this.head = Buffer.concat([this.head, bytes.subarray(0, room)]);
  }

  /** Returns whole milliseconds, rounded up; undefined when it cannot be measured. Call once. */
  read(): number | undefined {
    const { format, totalBytes } = this;
    if (format === 'pcm') return Math.ceil((totalBytes * 1_000) / bytesPerSecond(PCM_FORMAT));
    if (format === 'wav') {
      const wave = readWaveHeader(this.head);
      return wave && waveLengthMs(wave, totalBytes);
    }
    const sound = this.pieces?.end();
    return sound && measuredLength(sound, totalBytes)?.ms;
  }
}

/**
 * Reads an answer that is the audio itself.
 *
 * @param isMeasured whether the model is billed by the duration of its speech
 * @throws UpstreamError for a failed answer, one that is not audio, and an interrupted one
 */
export async function* readAudioAnswer(
  response: UpstreamResponse,
  { format, estimate }: SpeechRequest,
  isMeasured: boolean,
  classifyError: ClassifyError = classifyChatError,
): AsyncGenerator<WorkEvent<AudioPiece>> {
  if (response.status !== 200) throw await readFailedAnswer(response, classifyError);
  assertMedia(response, 'audio');
  const contentType = speechContentType(format);
  const meter = isMeasured ? new AudioLengthMeter(format) : undefined;
  let isEmpty = true;
  const count = function* (): Generator<WorkEvent<AudioPiece>> {
    const audioMs = meter?.read();
    if (audioMs === undefined) return;
    yield { type: 'usage', usage: { ...estimate, audioMs }, source: 'estimated' };
  };
  try {
    for await (const bytes of response) {
      if (bytes.length === 0) continue;
      if (isEmpty && format !== 'pcm' && isMarkup(bytes)) throw unreadable('a text for audio');
      isEmpty = false;
      meter?.push(bytes);
      yield { type: 'output', output: { contentType, bytes } };
    }
  } catch (error) {
    // Audio is charged even when the caller disconnected or the gateway's time limit cut it.
    const isOurs = error instanceof UpstreamError ? error.isRequestOver : !isEmpty;
    if (isOurs) yield* count();
    throw error;
  }
  if (isEmpty) throw unreadable('an empty answer');
  yield* count();
}

/** Detects JSON and proxies' error pages, whatever their type; no audio file starts like that. */
function isMarkup(bytes: Buffer): boolean {
  return /^\s*[<{]/.test(bytes.toString('latin1', 0, 64));
}

export function speechContentType(format: string): string {
  return CONTENT_TYPES[format] ?? 'application/octet-stream';
}
