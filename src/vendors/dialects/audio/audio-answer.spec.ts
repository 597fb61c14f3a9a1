import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { waveHeader } from '../../../platform/audio/wave-file.js';
import { AudioLengthMeter } from './audio-answer.js';

const FOLDER = new URL('../../../../test/fixtures/speech/', import.meta.url);
/** Sample rate of the test files. */
const RATE = 24_000;
const FRAME_MS = (1_152 * 1_000) / 44_100;

/** Silent frames of 128 kbit/s at 44.1 kHz. */
function mp3(frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0xc0]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

function measure(format: string, bytes: Buffer, pieceBytes = 1_000): number {
  const meter = new AudioLengthMeter(format);
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    meter.push(bytes.subarray(start, start + pieceBytes));
  }
  return meter.read() ?? -1;
}

describe('AudioLengthMeter', () => {
  it('measures PCM exactly, rounding up milliseconds', async () => {
    expect(measure('pcm', Buffer.alloc(48_000))).toBe(1_000);
    expect(measure('pcm', Buffer.alloc(48_002))).toBe(1_001);
  });

  it('measures the received data of a WAV file, whatever its header claims', async () => {
    const format = { channels: 2, sampleRate: 8_000, bitsPerSample: 16 };
    const wave = Buffer.concat([waveHeader(format, 0xffff_ff00), Buffer.alloc(64_000)]);
    expect(measure('wav', wave, 7)).toBe(2_000);
  });

  it('counts any number of MP3 frames', async () => {
    expect(measure('mp3', mp3(12_000), 65_536)).toBe(Math.ceil(12_000 * FRAME_MS));
  });

  it.each([
    ['aac', 13 * 1_024],
    ['flac', 0.47 * RATE],
    ['mp3', 22 * 576],
    ['opus', 0.47 * RATE],
  ])('counts %s in any chunking', async (format, samples) => {
    const file = await readFile(new URL(`piece-1.${format}`, FOLDER));
    for (const pieceBytes of [1, 100, 100_000]) {
      expect(measure(format, file, pieceBytes)).toBe(Math.ceil((samples * 1_000) / RATE));
    }
  });

  it('returns undefined for bytes that are not audio', async () => {
    expect(measure('flac', Buffer.from('hello'))).toBe(-1);
    expect(measure('wav', Buffer.from('hello'))).toBe(-1);
  });
});
