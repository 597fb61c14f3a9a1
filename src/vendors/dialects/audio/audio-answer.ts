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

/** What each format of spoken text is called in a Content-Type. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/** `pcm` has no header that says it: 24 kHz, 16 bits, little-endian, one channel. */
export const PCM_FORMAT = { channels: 1, sampleRate: 24_000, bitsPerSample: 16 } as const;

/** A vendor's WAV begins with its header. */
const KEPT_HEADER_BYTES = 4 * 1024;

/** How compressed audio is counted, as it comes. */
const COUNTERS: ReadonlyMap<string, () => SoundCounter> = new Map<string, () => SoundCounter>([
  ['mp3', () => new FrameCounter(MP3_FRAMES)],
  ['aac', () => new FrameCounter(ADTS_FRAMES)],
  ['opus', () => new OggCounter()],
  ['flac', () => new FlacCounter()],
]);

/** Measures, in passing, how long the audio is that a vendor produces. */
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

  /** Whole milliseconds, rounded up; undefined when the audio does not tell. To be called once. */
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
 * The events of a vendor's answer that is the audio itself.
 *
 * @param isMeasured whether the model is billed by the length of what it speaks
 * @throws UpstreamError for a failed answer, one that is no audio, and one that breaks off
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
    // What was spoken for somebody who left, or whom we cut, is paid for.
    const isOurs = error instanceof UpstreamError ? error.isRequestOver : !isEmpty;
    if (isOurs) yield* count();
    throw error;
  }
  if (isEmpty) throw unreadable('an empty answer');
  yield* count();
}

/** JSON and pages of proxies, whatever they are called; no file of sound begins so. */
function isMarkup(bytes: Buffer): boolean {
  return /^\s*[<{]/.test(bytes.toString('latin1', 0, 64));
}

export function speechContentType(format: string): string {
  return CONTENT_TYPES[format] ?? 'application/octet-stream';
}
