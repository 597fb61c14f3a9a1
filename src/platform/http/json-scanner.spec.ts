import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../../../test/support/seeded-random.js';
import { JsonScanner, measureJson } from './json-scanner.js';

/** Scans a text that arrives in pieces split at the given offsets. */
function scan(text: string, cuts: number[] = []) {
  const bytes = Buffer.from(text);
  const scanner = new JsonScanner();
  const ends = [...cuts.toSorted((one, other) => one - other), bytes.length];
  ends.forEach((end, index) => {
    scanner.add(bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
  });
  const { parts, depth, commas, colons, level, length } = scanner;
  return { parts, depth, commas, colons, level, length, members: scanner.membersIn(bytes) };
}

describe(JsonScanner.name, () => {
  it.each([
    ['{"s":"x","n":-1.5e3,"a":[1,"b",{"c" : "d"}]}', 8],
    ['{"a":"}],\\"x\\":\\"y\\"","b":"\\\\","c":"\\\\\\"","{":["\\\\","\\""],"e":""}', 11],
    ['{"a" \n:\t"b","c":["d" , "e"],"f":[[],[[]]]}', 11],
    ['{"日本":"🙂\\ud83d"}', 2],
    ['{"a":1,"b":[{}],"c":3,"d":4,"e":{"f":[":",":"]}}', 15],
    ['{"a":1,"b":[{}],"c":3,"d":4,"e":{"f":[":",":"]}}', 15],
    ['', 0],
  ])('finds the same in %s, wherever it is split', (text, expected) => {
    const whole = scan(text);
    expect(whole.parts).toBe(expected);
    expect(measureJson(text).parts).toBe(expected);
    const { length } = Buffer.from(text);
    for (let one = 0; one <= length; one++) {
      for (let other = one; other <= length; other++) {
        expect(scan(text, [one, other])).toEqual(whole);
      }
    }
  });

  it.each([
    ['{}', 1],
    ['{"a":[]}', 2],
    ['{"a":[[{}]],"b":{}}', 4],
    ['{"a":"[[[["}', 1],
  ])('reports how deep %s nests: %d', (text, depth) => {
    expect(scan(text).depth).toBe(depth);
  });

  it('finds the same in random texts', () => {
    const random = new SeededRandom(7);
    const marks = ['{', '}', '[', ']', ':', ',', '"', '\\', ' ', 'x'];
    for (let round = 0; round < 200; round++) {
      const strings = Array.from({ length: 30 }, () =>
        JSON.stringify(
          Array.from({ length: random.below(6) }, () => marks[random.below(marks.length)]).join(''),
        ),
      );
      const text = `{${strings.map((string, index) => `"${index}":[${string},{${string}: ${string}}]`).join(',')}}`;
      const cuts = Array.from({ length: 5 }, () => random.below(Buffer.byteLength(text)));
      const whole = scan(text);
      expect(scan(text, cuts)).toEqual(whole);
      const { parts, depth } = whole;
      expect(measureJson(text)).toEqual({ parts, depth });
    }
  });
});
