import type { AudioPiece, SpeechRequest } from '../../../canonical/work-request.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { readFailedAnswer, type ClassifyError } from '../failed-answer.js';
import { assertMedia } from '../media/media-file.js';
import { measureAudioBytes } from '../../../platform/audio/measure-audio.js';
import { bytesPerSecond, readWaveHeader } from '../../../platform/audio/wave-file.js';

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

/**
 * So much of compressed audio is kept to be measured; some three minutes at the usual bit rates.
 * What is longer is taken to go on at the same rate.
 */
const KEPT_BYTES = 3 * 1024 * 1024;

/** Uncompressed audio is measured by its header and its size. */
const KEPT_HEADER_BYTES = 4 * 1024;

/** Measures, in passing, how long the audio is that a vendor produces. */
export class AudioLengthMeter {
  private kept: Buffer[] = [];
  private keptBytes = 0;
  private totalBytes = 0;
  private readonly maxKeptBytes: number;

  constructor(private readonly format: string) {
    const isPlain = format === 'pcm' || format === 'wav';
    this.maxKeptBytes = isPlain ? KEPT_HEADER_BYTES : KEPT_BYTES;
  }

  push(bytes: Buffer): void {
    this.totalBytes += bytes.length;
    const room = this.maxKeptBytes - this.keptBytes;
    if (room <= 0) return;
    const part = bytes.subarray(0, room);
    this.kept.push(part);
    this.keptBytes += part.length;
  }

  /** Whole milliseconds, rounded up; undefined when the audio does not tell. */
  async read(): Promise<number | undefined> {
    const kept = Buffer.concat(this.kept, this.keptBytes);
    this.kept = [];
    if (this.format === 'pcm') return toMs(this.totalBytes, bytesPerSecond(PCM_FORMAT));
    if (this.format === 'wav') {
      const wave = readWaveHeader(kept);
      // A streamed file's header claims any length; what came is what counts.
      return wave && toMs(this.totalBytes - wave.dataOffset, bytesPerSecond(wave));
    }
    const keptMs = await measureAudioBytes(kept, speechContentType(this.format));
    return keptMs && Math.ceil((keptMs * this.totalBytes) / this.keptBytes);
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
  const count = async function* (): AsyncGenerator<WorkEvent<AudioPiece>> {
    const audioMs = await meter?.read();
    if (audioMs === undefined) return;
    yield { type: 'usage', usage: { ...estimate, audioMs }, source: 'estimated' };
  };
  try {
    for await (const bytes of response) {
      if (bytes.length === 0) continue;
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

function toMs(bytes: number, perSecond: number): number | undefined {
  return perSecond > 0 && bytes >= 0 ? Math.ceil((bytes * 1000) / perSecond) : undefined;
}

export function speechContentType(format: string): string {
  return CONTENT_TYPES[format] ?? 'application/octet-stream';
}
