import { describe, expect, it } from '@jest/globals';
import { embedWords } from './embed-words.js';

const embed = (text: string, dimensions = 256) => embedWords(text.match(/\S+/g) ?? [], dimensions);
const likeness = (one: number[], other: number[]) =>
  one.reduce((sum, value, index) => sum + value * other[index]!, 0);

describe(embedWords.name, () => {
  it.each(['one', 'one two three', '東京 🙂', '', 'x '.repeat(10_000)])(
    'returns the same unit vector for %j each time',
    (text) => {
      for (const dimensions of [1, 7, 256, 4_096]) {
        const vector = embed(text, dimensions);
        expect(vector).toHaveLength(dimensions);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
        expect(embed(text, dimensions)).toEqual(vector);
      }
    },
  );

  it('returns more similar vectors for texts with common words', () => {
    const apple = embed('a red apple');
    expect(likeness(apple, embed('a green apple'))).toBeGreaterThan(0.5);
    expect(likeness(apple, embed('ships sail south'))).toBeLessThan(0.3);
  });

  it('returns numbers that fit 32-bit floats', () => {
    const vector = embed('one two three');
    expect(vector.map(Math.fround)).toEqual(vector);
  });
});
