import { describe, expect, it } from '@jest/globals';
import { processorMsOf } from '../../../test/support/processor-ms.js';
import { KeywordFinder } from './keyword-finder.js';

/** Enough words to use the lookup instead of the search. */
const FILLERS = Array.from({ length: 40 }, (_, index) => `filler${index}`);
const ALPHABET = [
  'a',
  'b',
  'A',
  ' ',
  '-',
  '_',
  '#',
  '1',
  'é',
  'e\u0301',
  'Ж',
  '漢',
  '𝒳',
  '😀',
  'İ',
];
const WORDS = [
  'a',
  'ab',
  'a b',
  'a-b',
  '#a',
  'b#',
  '漢',
  'a漢',
  '漢a',
  'é',
  'ж',
  '𝒳',
  '😀',
  'a 😀',
  '1',
  'a a',
  '# a',
  '-#',
  '😀 a',
];

/** Deterministic texts. */
function* texts(count: number): Generator<string> {
  let state = 1;
  for (let made = 0; made < count; made++) {
    let text = '';
    for (let length = 0; length < 12; length++) {
      state = (state * 48_271) % 2_147_483_647;
      text += ALPHABET[state % ALPHABET.length];
    }
    yield text;
  }
}

describe(KeywordFinder.name, () => {
  it.each(WORDS)('finds %j at the same positions among few words or many', (word) => {
    const one = new KeywordFinder([word]);
    // Some share a prefix with the word.
    const ofMany = new KeywordFinder([`${word}zz`, `${word}z z`, word, ...FILLERS]);
    let found = 0;
    for (const text of texts(4_000)) {
      const spans = [0, 1, 2, 5].map((from) => one.find(text, from));
      const spansOfMany = [0, 1, 2, 5].map((from) => ofMany.find(text, from));
      if (JSON.stringify(spans) !== JSON.stringify(spansOfMany)) {
        expect([text, spans]).toEqual([text, spansOfMany]);
      }
      if (spans[0]) found++;
    }
    expect(found).toBeGreaterThan(0);
  });

  it('finds the first of several words', () => {
    const finder = new KeywordFinder(['late', 'early', 'earl']);
    expect(finder.find('an early and a late bird', 0)).toEqual({ start: 3, end: 8 });
    expect(finder.find('an early and a late bird', 4)).toEqual({ start: 15, end: 19 });
    expect(finder.find('clearly latent', 0)).toBeUndefined();
  });

  it('finds a phrase among its prefixes and extensions', () => {
    const finder = new KeywordFinder(['a b c', 'a b-', 'a b c d', ...FILLERS]);
    expect(finder.find('x a b c d', 0)).toEqual({ start: 2, end: 9 });
    expect(finder.find('x a b c de', 0)).toEqual({ start: 2, end: 7 });
    expect(finder.find('x a b-c', 0)).toEqual({ start: 2, end: 6 });
    expect(finder.find('x a bc', 0)).toBeUndefined();
  });

  it.each<[string, string[], string]>([
    ['a long word that contains a phrase everywhere', ['z'.repeat(150)], 'z'],
    ['many phrases that begin with one word', manyOf((index) => `a b${index}`), 'a b '],
    [
      'phrases that are prefixes of each other',
      manyOf((index) => `a${' a'.repeat(index % 90)}-x`),
      'a ',
    ],
    ['phrases of symbols', manyOf((index) => `${'!'.repeat(1 + (index % 150))}x${index}`), '!'],
  ])('is fast for %s', async (_, words, piece) => {
    const finder = new KeywordFinder(words);
    const text = piece.repeat(32_000 / piece.length);
    finder.find(text, 0);
    expect(await processorMsOf(() => finder.find(text, 0))).toBeLessThan(100);
  });
});

function manyOf(make: (index: number) => string): string[] {
  return Array.from({ length: 5_000 }, (_, index) => make(index));
}
