import { AudioFormatError, type AudioJoiner, PlainJoiner } from './audio-joiner.js';
import { FileWindows } from './file-windows.js';

/** Longer headers contain pictures or lyrics, which speech does not have. */
const MAX_HEADER_BYTES = 256 * 1024;

/** Length in the header of a file that was streamed before its length was known. */
const UNKNOWN_LENGTH = 0x7fff0000;

/** Joins WAV: the samples of all pieces behind one header with the true length. */
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
      throw new AudioFormatError('WAV samples of fractional bytes');
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

  /** Ignores chunks after the samples, such as titles. */
  private take(bytes: Buffer): Buffer[] {
    const own = bytes.subarray(0, Math.min(bytes.length, this.leftInPiece));
    this.leftInPiece -= own.length;
    const ready = own.length === 0 ? [] : (this.samples?.push(own) ?? []);
    for (const part of ready) this.dataBytes += part.length;
    return ready;
  }
}

/** Layout of uncompressed audio. */
export interface WaveFormat {
  channels: number;
  sampleRate: number;
  bitsPerSample: number;
}

/** Position of the samples in a WAV file. */
interface WaveData extends WaveFormat {
  /** From the start of the file. */
  dataOffset: number;
  /** Encoding of the samples. */
  codec: number;
  /** As in the header, which can be too large while a file is still being written. */
  dataBytes: number;
}

const WAVE_HEADER_BYTES = 44;
const EXTENSIBLE = 0xfffe;
const EXTENSIBLE_BYTES = 26;

/** Bits per compressed sample by codec: MS ADPCM, A-law, µ-law, IMA ADPCM, GSM 6.10. */
const PACKED_BITS: Readonly<Record<number, number>> = {
  0x02: 4,
  0x06: 8,
  0x07: 8,
  0x11: 4,
  0x31: 1.625,
};
/** Integers and floating point. */
const PLAIN_CODECS: ReadonlySet<number> = new Set([1, 3]);
const MAX_BITS = 64;
const MAX_CHANNELS = 64;
const MIN_SAMPLE_RATE = 1_000;
const MAX_SAMPLE_RATE = 768_000;
const CHUNK_HEADER_BYTES = 8;
/** Most chunks to visit after the samples; bounds the time for hostile files. */
const MAX_CHUNKS = 100;
/** Most bytes after the samples that are not counted as sound: titles, a picture. */
const MAX_TRAILER_BYTES = 1024 * 1024;

/** Returns the bytes of one second. */
export function bytesPerSecond({ channels, sampleRate, bitsPerSample }: WaveFormat): number {
  return (channels * sampleRate * bitsPerSample) / 8;
}

/** Builds the header of a WAV file of uncompressed samples. */
export function waveHeader(format: WaveFormat, dataBytes: number): Buffer {
  const { channels, sampleRate, bitsPerSample } = format;
  const header = Buffer.alloc(WAVE_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(WAVE_HEADER_BYTES - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(bytesPerSecond(format), 28);
  header.writeUInt16LE((channels * bitsPerSample) / 8, 32);
  header.writeUInt16LE(bitsPerSample, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** Finds the samples in the first bytes of a WAV file; undefined when they are not WAV, or too few. */
export function readWaveHeader(head: Buffer): WaveData | undefined {
  if (head.length < 12 || head.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  let format: (WaveFormat & { codec: number }) | undefined;
  let offset = 12;
  while (offset + 8 <= head.length) {
    const name = head.toString('latin1', offset, offset + 4);
    const size = head.readUInt32LE(offset + 4);
    const start = offset + 8;
    if (name === 'fmt ' && start + 16 <= head.length) {
      format = {
        channels: head.readUInt16LE(start + 2),
        sampleRate: head.readUInt32LE(start + 4),
        codec: readCodec(head, start, size),
        bitsPerSample: head.readUInt16LE(start + 14),
      };
    }
    if (name === 'data') return format && { ...format, dataOffset: start, dataBytes: size };
    offset = start + size + (size % 2);
  }
  return undefined;
}

/**
 * Returns the length of a WAV file in whole milliseconds, rounded up. Counts the samples in the bytes that
 * are present, and ignores the header's own byte rate.
 *
 * @returns undefined for implausible formats and for codecs whose samples cannot be counted
 */
export function waveLengthMs(wave: WaveData, fileBytes: number): number | undefined {
  const { channels, sampleRate, bitsPerSample, codec, dataOffset, dataBytes } = wave;
  const isPlain = PLAIN_CODECS.has(codec) && bitsPerSample <= MAX_BITS;
  const bits = isPlain ? Math.ceil(bitsPerSample / 8) * 8 : PACKED_BITS[codec];
  if (!bits || channels === 0 || channels > MAX_CHANNELS) return undefined;
  if (sampleRate < MIN_SAMPLE_RATE || sampleRate > MAX_SAMPLE_RATE) return undefined;
  const rest = fileBytes - dataOffset;
  const bytes =
    dataBytes === 0 ? rest : Math.max(Math.min(dataBytes, rest), rest - MAX_TRAILER_BYTES);
  return bytes > 0 ? Math.ceil((bytes * 8_000) / (channels * bits * sampleRate)) : undefined;
}

/**
 * Returns whether more samples follow those announced by the header: players play all chunks called
 * `data`.
 */
export function hasFurtherSamples(path: string, wave: WaveData): Promise<boolean> {
  return FileWindows.read(path, async (file) => {
    if (wave.dataBytes === 0) return false;
    let at = wave.dataOffset + wave.dataBytes + (wave.dataBytes % 2);
    for (let chunks = 0; at + CHUNK_HEADER_BYTES <= file.size; chunks++) {
      const header = await file.at(at, CHUNK_HEADER_BYTES);
      if (chunks === MAX_CHUNKS || header.toString('latin1', 0, 4) === 'data') return true;
      const size = header.readUInt32LE(4);
      at += CHUNK_HEADER_BYTES + size + (size % 2);
    }
    return false;
  });
}

/** Reads the codec, which newer headers store in the first bytes of a GUID. */
function readCodec(head: Buffer, start: number, size: number): number {
  const codec = head.readUInt16LE(start);
  const isExtended = size >= EXTENSIBLE_BYTES && start + EXTENSIBLE_BYTES <= head.length;
  return codec === EXTENSIBLE && isExtended ? head.readUInt16LE(start + 24) : codec;
}
