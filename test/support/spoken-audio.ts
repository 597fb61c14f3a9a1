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
