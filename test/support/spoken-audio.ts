import { waveHeader } from '../../src/platform/audio/wave-file.js';

const FORMAT = { channels: 1, sampleRate: 8_000, bitsPerSample: 16 };

/** A WAV file of silence. */
export function silentWave(ms: number): Buffer {
  const samples = Buffer.alloc((ms * FORMAT.sampleRate * 2) / 1000);
  return Buffer.concat([waveHeader(FORMAT, samples.length), samples]);
}

/** A silent MP3: frames of 417 bytes, 128 kbit/s at 44.1 kHz, 1,152 samples each. */
export function silentMp3(frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0xc0]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

/** FLAC of 16 kHz, mono, 16 bits, that claims to hold so many samples. */
export function flacThatClaims(samples: number, bytes: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4_096, 0);
  info.writeUInt16BE(4_096, 2);
  // 20 bits of rate, 3 of channels - 1, 5 of bits - 1, and the first 4 of the samples.
  info.writeUInt32BE(((16_000 << 12) | (15 << 4)) >>> 0, 10);
  info.writeUInt32BE(samples, 14);
  return Buffer.concat([
    Buffer.from('fLaC'),
    Buffer.from([0x80, 0, 0, 34]),
    info,
    Buffer.alloc(bytes),
  ]);
}
