import { describe, expect, it } from '@jest/globals';
import { KeywordFinder } from './keyword-finder.js';

/** Enough of them for words to be looked up instead of searched for. */
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
];

/** The same texts on every run. */
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
  it.each(WORDS)(
    'finds %j at the same places, whether it is one of few words or of many',
    (word) => {
      const [one, ofMany] = [new KeywordFinder([word]), new KeywordFinder([word, ...FILLERS])];
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
    },
  );

  it('finds the first of several', () => {
    const finder = new KeywordFinder(['late', 'early', 'earl']);
    expect(finder.find('an early and a late bird', 0)).toEqual({ start: 3, end: 8 });
    expect(finder.find('an early and a late bird', 4)).toEqual({ start: 15, end: 19 });
    expect(finder.find('clearly latent', 0)).toBeUndefined();
  });
});
