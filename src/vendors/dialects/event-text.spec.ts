import { describe, expect, it } from '@jest/globals';
import { startsWithAt, scanJsonString } from './event-text.js';
import { SeededRandom } from '../../../test/support/seeded-random.js';

describe(startsWithAt.name, () => {
  it.each([
    ['abcabc', 'abc', 0],
    ['abcabc', 'abc', 3],
    ['abcabc', 'bc', 3],
    ['abcabc', 'abc', 4],
    ['abcabc', 'abc', 6],
    ['abcabc', 'abd', 0],
    ['', 'a', 0],
    ['abc', '', 1],
  ])('agrees with startsWith for %j and %j at %d', (text, part, offset) => {
    expect(startsWithAt(text, part, offset)).toBe(text.startsWith(part, offset));
  });
});

/** Scans the JSON text of a string, without its opening quote and with trailing text. */
function scan(json: string) {
  return scanJsonString(Buffer.from(`${json.slice(1)},"x"`).toString('latin1'), 0);
}

describe(scanJsonString.name, () => {
  it.each([
    ['""', 0],
    ['"abc"', 3],
    ['"größe"', 5],
    ['"日本🙂"', 3],
    ['"\\n\\t\\\\\\/"', 4],
    ['"\\""', 1],
    ['"\\\\"', 1],
    ['"\\\\\\""', 2],
    ['"\\u0041"', 1],
    ['"\\ud83d\\ude42"', 1],
    ['"\\uD83D\\uDE42x"', 2],
    ['"\\ud83d"', 1],
    ['"\\ude42"', 1],
    ['"\\ud83d\\ud83d\\ude42"', 2],
    ['"\\ude42\\ud83d"', 2],
    ['"\\ud83d\\n"', 2],
    ['"\\\\ud83d\\\\ude42"', 12],
  ])('scans %s', (json, characters) => {
    const end = Buffer.byteLength(json) - 2;
    expect(scan(json)).toEqual({ end, characters });
    expect(characters).toBe([...(JSON.parse(json) as string)].length);
  });

  it('returns -1 for an unterminated string', () => {
    for (const text of ['', 'abc', 'abc\\', 'abc\\"', 'a\\u00', '\\ud83d\\u']) {
      expect(scanJsonString(text, 0).end).toBe(-1);
    }
  });

  it('starts at the given offset', () => {
    expect(scanJsonString('{"a":"bc"}', 6)).toEqual({ end: 8, characters: 2 });
  });

  it('counts like JSON.parse', () => {
    const random = new SeededRandom(5);
    const pieces = ['a', '"', '\\', '\n', 'é', '日', '🙂', '\ud83d', '\ude42', '\u0000', 'u0041'];
    for (let round = 0; round < 5_000; round++) {
      const text = Array.from({ length: random.below(9) }, () => random.pick(pieces)).join('');
      expect(scan(JSON.stringify(text)).characters).toBe([...text].length);
    }
  });
});
