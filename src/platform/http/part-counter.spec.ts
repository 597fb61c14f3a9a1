import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../../../test/support/seeded-random.js';
import { measureJson } from './measure-json.js';
import { PartCounter } from './part-counter.js';
import { scanTopLevelMembers } from './top-level-members.js';

/** Counts a text that arrives in pieces cut at the given offsets. */
function countInPieces(text: string, cuts: number[]): number {
  const bytes = Buffer.from(text);
  const counter = new PartCounter();
  let parts = 0;
  const ends = [...cuts.toSorted((one, other) => one - other), bytes.length];
  ends.forEach((end, index) => {
    parts = counter.add(bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
  });
  return parts;
}

describe(PartCounter.name, () => {
  it.each([
    ['{"s":"x","n":-1.5e3,"a":[1,"b",{"c" : "d"}]}', 8],
    ['{"a":"}],\\"x\\":\\"y\\"","b":"\\\\","c":"\\\\\\"","{":["\\\\","\\""],"e":""}', 11],
    ['{"a" \n:\t"b","c":["d" , "e"],"f":[[],[[]]]}', 11],
    ['{"日本":"🙂\\ud83d"}', 2],
    ['{"a":1,"b":[{}],"c":3,"d":4,"e":{"f":[":",":"]}}', 15],
    ['', 0],
  ])('counts %s as its reader does, wherever it is cut', (text, expected) => {
    expect(scanTopLevelMembers(Buffer.from(text)).parts).toBe(expected);
    expect(measureJson(text).parts).toBe(expected);
    const { length } = Buffer.from(text);
    for (let one = 0; one <= length; one++) {
      for (let other = one; other <= length; other++) {
        expect(countInPieces(text, [one, other])).toBe(expected);
      }
    }
  });

  it('counts what chance makes as its reader does', () => {
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
      const { parts, depth } = scanTopLevelMembers(Buffer.from(text));
      expect(countInPieces(text, cuts)).toBe(parts);
      expect(measureJson(text)).toEqual({ parts, depth });
    }
  });
});
