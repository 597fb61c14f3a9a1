/** How uncompressed audio is laid out. */
export interface WaveFormat {
  channels: number;
  sampleRate: number;
  bitsPerSample: number;
}

/** Where the samples of a WAV file lie. */
export interface WaveData extends WaveFormat {
  /** From the start of the file. */
  dataOffset: number;
  /** Bytes of one second as the header says, which also holds for compressed samples. */
  byteRate: number;
  /** As the header says; a file that is still being made may say too much. */
  dataBytes: number;
}

const WAVE_HEADER_BYTES = 44;

/** Bytes of one second. */
export function bytesPerSecond({ channels, sampleRate, bitsPerSample }: WaveFormat): number {
  return (channels * sampleRate * bitsPerSample) / 8;
}

/** The header of a WAV file of 16-bit or other plain samples. */
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

/** Finds the samples in the first bytes of a WAV file; undefined when these are none, or too few. */
export function readWaveHeader(head: Buffer): WaveData | undefined {
  if (head.length < 12 || head.toString('latin1', 0, 4) !== 'RIFF') return undefined;
  let format: (WaveFormat & { byteRate: number }) | undefined;
  let offset = 12;
  while (offset + 8 <= head.length) {
    const name = head.toString('latin1', offset, offset + 4);
    const size = head.readUInt32LE(offset + 4);
    const start = offset + 8;
    if (name === 'fmt ' && start + 16 <= head.length) {
      format = {
        channels: head.readUInt16LE(start + 2),
        sampleRate: head.readUInt32LE(start + 4),
        byteRate: head.readUInt32LE(start + 8),
        bitsPerSample: head.readUInt16LE(start + 14),
      };
    }
    if (name === 'data') return format && { ...format, dataOffset: start, dataBytes: size };
    offset = start + size + (size % 2);
  }
  return undefined;
}
