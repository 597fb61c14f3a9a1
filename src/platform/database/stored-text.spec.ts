import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../../../test/support/seeded-random.js';
import { fromStoredText, storedText, toStoredText } from './stored-text.js';

describe(toStoredText.name, () => {
  it.each([
    ['', ''],
    ['plain text', 'plain text'],
    ['größe 日本 🙂', 'größe 日本 🙂'],
    ['a\u0000b', 'a\\u0000b'],
    ['\ud83d', '\\ud83d'],
    ['\ude42', '\\ude42'],
    ['\ude42\ud83d', '\\ude42\\ud83d'],
    ['\ud83d🙂\ude42', '\\ud83d🙂\\ude42'],
    ['C:\\users', 'C:\\\\users'],
    ['\\u0000', '\\\\u0000'],
    ['\\\u0000', '\\\\\\u0000'],
  ])('stores %j as %j', (text, stored) => {
    expect(toStoredText(text)).toBe(stored);
    expect(fromStoredText(stored)).toBe(text);
  });

  it('turns any text into one that PostgreSQL accepts, and back', () => {
    const random = new SeededRandom(11);
    const pieces = ['\\', 'u', '0000', 'd83d', '\u0000', '\ud83d', '\ude42', '🙂', 'x', 'é'];
    const seen = new Map<string, string>();
    for (let round = 0; round < 5_000; round++) {
      const text = Array.from({ length: random.below(8) }, () => random.pick(pieces)).join('');
      const stored = toStoredText(text);
      expect(stored.isWellFormed()).toBe(true);
      expect(stored.includes('\u0000')).toBe(false);
      expect(fromStoredText(stored)).toBe(text);
      expect(seen.get(stored) ?? text).toBe(text); // No two texts have the same stored form.
      seen.set(stored, text);
    }
  });

  it('converts TypeORM columns both ways', () => {
    expect(storedText.from(storedText.to('a\u0000'))).toBe('a\u0000');
  });
});
