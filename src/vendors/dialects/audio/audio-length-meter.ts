import { measureAudioBytes } from '../../../platform/audio/measure-audio.js';
import { bytesPerSecond, readWaveHeader } from '../../../platform/audio/wave-file.js';
import { PCM_FORMAT, speechContentType } from './speech-formats.js';

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

function toMs(bytes: number, perSecond: number): number | undefined {
  return perSecond > 0 && bytes >= 0 ? Math.ceil((bytes * 1000) / perSecond) : undefined;
}
