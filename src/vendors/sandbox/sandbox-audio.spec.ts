import { describe, expect, it } from '@jest/globals';
import { ToneCode, readTones } from './sandbox-audio.js';

const samplesOf = (code: ToneCode): Buffer => Buffer.concat([...code.pieces(64)]);
const everyByte = Array.from({ length: 0x250 }, (_, index) => String.fromCodePoint(index)).join('');

describe('ToneCode', () => {
  it.each([0.25, 0.7, 1, 1.3, 2, 4])('is read back at speed %d', (speed) => {
    const code = new ToneCode(everyByte, speed);
    const samples = samplesOf(code);
    expect(samples.length).toBe(code.sizeBytes);
    expect(readTones(samples)).toBe(everyByte);
  });

  it('is deterministic, and shorter at higher speeds', () => {
    expect(samplesOf(new ToneCode('Hi', 1)).equals(samplesOf(new ToneCode('Hi', 1)))).toBe(true);
    expect(new ToneCode('Hi', 2).sizeBytes).toBeLessThan(new ToneCode('Hi', 1).sizeBytes);
  });

  it('is audible', () => {
    const samples = samplesOf(new ToneCode('Hi', 1));
    const loudest = Math.max(...new Int16Array(Uint8Array.from(samples).buffer));
    expect(loudest).toBeGreaterThan(7_000);
  });
});

describe('readTones', () => {
  it('does not mistake other audio for tones', () => {
    expect(readTones(Buffer.alloc(0))).toBeUndefined();
    expect(readTones(Buffer.alloc(10_000))).toBeUndefined();
    const noise = samplesOf(new ToneCode('Hi', 1));
    noise.fill(0, 4, 484);
    expect(readTones(noise)).toBeUndefined();
  });
});
