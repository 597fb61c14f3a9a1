import { AudioFormatError, type AudioJoiner } from './audio-joiner.js';
import { PlainJoiner } from './plain-joiner.js';
import { readWaveHeader, waveHeader, type WaveFormat } from './wave-file.js';

/** Headers with pictures and lyrics are larger, and nobody speaks those. */
const MAX_HEADER_BYTES = 256 * 1024;
/** What a header claims whose file was streamed before its length was known. */
const UNKNOWN_LENGTH = 0x7fff0000;

/** WAV: the samples of all pieces behind one header with the true length. */
export class WaveJoiner implements AudioJoiner {
  private format: WaveFormat | undefined;
  private samples: PlainJoiner | undefined;
  private head: Buffer | undefined = Buffer.alloc(0);
  private leftInPiece = Infinity;
  private dataBytes = 0;

  push(bytes: Buffer): Buffer[] {
    if (!this.head) return this.take(bytes);
    this.head = Buffer.concat([this.head, bytes]);
    const wave = readWaveHeader(this.head);
    if (!wave) {
      if (this.head.length > MAX_HEADER_BYTES) throw new AudioFormatError('no WAV header');
      return [];
    }
    const { channels, sampleRate, bitsPerSample, dataOffset, dataBytes } = wave;
    this.adopt({ channels, sampleRate, bitsPerSample });
    this.leftInPiece = dataBytes === 0 || dataBytes >= UNKNOWN_LENGTH ? Infinity : dataBytes;
    const rest = this.head.subarray(dataOffset);
    this.head = undefined;
    return this.take(rest);
  }

  endPiece(): Buffer[] {
    if (!this.samples || this.head) throw new AudioFormatError('a piece without a WAV header');
    this.head = Buffer.alloc(0);
    return this.samples.endPiece();
  }

  end(): Buffer[] {
    return [];
  }

  header(): Buffer {
    if (!this.format) throw new AudioFormatError('no piece');
    return waveHeader(this.format, this.dataBytes);
  }

  private adopt(format: WaveFormat): void {
    const frameBytes = (format.channels * format.bitsPerSample) / 8;
    if (!Number.isInteger(frameBytes) || frameBytes === 0) {
      throw new AudioFormatError('WAV of samples that are no whole bytes');
    }
    this.format ??= format;
    this.samples ??= new PlainJoiner(frameBytes);
    const { channels, sampleRate, bitsPerSample } = this.format;
    const isSame =
      format.channels === channels &&
      format.sampleRate === sampleRate &&
      format.bitsPerSample === bitsPerSample;
    if (!isSame) throw new AudioFormatError('pieces of different WAV formats');
  }

  /** Chunks behind the samples, such as titles, are no samples. */
  private take(bytes: Buffer): Buffer[] {
    const own = bytes.subarray(0, Math.min(bytes.length, this.leftInPiece));
    this.leftInPiece -= own.length;
    const ready = own.length === 0 ? [] : (this.samples?.push(own) ?? []);
    for (const part of ready) this.dataBytes += part.length;
    return ready;
  }
}
