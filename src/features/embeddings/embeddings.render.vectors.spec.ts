import { describe, expect, it } from '@jest/globals';
import { decodeFloats, encodeFloats } from './embeddings.render.js';

describe(encodeFloats.name, () => {
  it.each<[number[], string]>([
    [[1], 'AACAPw=='],
    [[1, -2, 0], 'AACAPwAAAMAAAAAA'],
    [[], ''],
  ])('encodes %j as little-endian 32-bit floats', (vector, base64) => {
    expect(encodeFloats(vector)).toBe(base64);
    expect(decodeFloats(base64)).toEqual(vector);
  });

  it('keeps the precision of 32-bit floats', () => {
    const vector = [0.1, 1e-40, -3.4e38].map(Math.fround);
    expect(decodeFloats(encodeFloats(vector))).toEqual(vector);
  });
});
