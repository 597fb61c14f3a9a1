import { describe, expect, it } from '@jest/globals';
import { countCodePoints } from '../../../canonical/prompt-size.js';
import { splitSpeech } from './speak-at-length.js';

describe(splitSpeech.name, () => {
  it('leaves a short text whole', () => {
    expect(splitSpeech('One. Two.', 9)).toEqual(['One. Two.']);
  });

  it.each<[string, string, number, string[]]>([
    [
      'English',
      'It rains. We stay in! Do you? Yes.',
      20,
      ['It rains.', 'We stay in! Do you?', 'Yes.'],
    ],
    ['Japanese', '雨です。家にいます。はい。', 8, ['雨です。', '家にいます。', 'はい。']],
    ['Hindi', 'बारिश है। हम घर पर हैं।', 14, ['बारिश है।', 'हम घर पर हैं।']],
    ['Arabic', 'هل تمطر؟ نعم.', 9, ['هل تمطر؟', 'نعم.']],
  ])('splits %s at ends of sentences', (_name, text, max, pieces) => {
    expect(splitSpeech(text, max)).toEqual(pieces);
  });

  it('splits a long sentence between words', () => {
    expect(splitSpeech('one two three four', 9)).toEqual(['one two', 'three', 'four']);
  });

  it('splits a long word between graphemes', () => {
    const family = '👨‍👩‍👧';
    expect(splitSpeech(family.repeat(3), 5)).toEqual([family, family, family]);
    expect(splitSpeech('ab'.repeat(3), 4)).toEqual(['abab', 'ab']);
  });

  it('never splits a code point, even of a huge grapheme', () => {
    const text = `🙂${'\u0301'.repeat(50)}🙂`;
    const pieces = splitSpeech(text, 7);
    expect(pieces.join('')).toBe(text);
    for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
  });

  it('drops only blanks, and keeps to the limit', () => {
    const text = 'Ein Satz mit Wörtern, 東京 und 🙂. Noch einer!\n\n'.repeat(500);
    const pieces = splitSpeech(text, 100);
    expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
    for (const piece of pieces) expect(countCodePoints(piece)).toBeLessThanOrEqual(100);
    expect(pieces.length).toBeLessThan(text.length / 50);
  });

  it('returns nothing for blanks', () => {
    expect(splitSpeech(' \n ', 10)).toEqual([]);
  });

  it('splits a long book quickly', () => {
    const startMs = performance.now();
    splitSpeech('x'.repeat(200_000) + ' And so on.'.repeat(20_000), 4_096);
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });
});
