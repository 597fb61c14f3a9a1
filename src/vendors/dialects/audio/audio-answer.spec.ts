import { describe, expect, it } from '@jest/globals';
import { waveHeader } from '../../../platform/audio/wave-file.js';
import { AudioLengthMeter } from './audio-answer.js';

const FRAME_MS = (1_152 * 1_000) / 44_100;

/** Silent frames of 128 kbit/s at 44.1 kHz. */
function mp3(frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0xc0]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

async function measure(format: string, bytes: Buffer, pieceBytes = 1_000): Promise<number> {
  const meter = new AudioLengthMeter(format);
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    meter.push(bytes.subarray(start, start + pieceBytes));
  }
  return (await meter.read()) ?? -1;
}

describe('AudioLengthMeter', () => {
  it('counts plain samples exactly, begun milliseconds included', async () => {
    expect(await measure('pcm', Buffer.alloc(48_000))).toBe(1_000);
    expect(await measure('pcm', Buffer.alloc(48_002))).toBe(1_001);
  });

  it('goes by what came of a WAV file, whatever its header claims', async () => {
    const format = { channels: 2, sampleRate: 8_000, bitsPerSample: 16 };
    const wave = Buffer.concat([waveHeader(format, 0xffff_ff00), Buffer.alloc(64_000)]);
    expect(await measure('wav', wave, 7)).toBe(2_000);
  });

  it('measures MP3, also beyond what it keeps', async () => {
    expect(Math.abs((await measure('mp3', mp3(100))) - 100 * FRAME_MS)).toBeLessThan(20);
    // 5 MB, of which 3 MiB are kept.
    const long = await measure('mp3', mp3(12_000), 65_536);
    expect(Math.abs(long / (12_000 * FRAME_MS) - 1)).toBeLessThan(0.001);
  });

  it('does not guess at bytes that are no audio', async () => {
    expect(await measure('flac', Buffer.from('hello'))).toBe(-1);
    expect(await measure('wav', Buffer.from('hello'))).toBe(-1);
  });
});
