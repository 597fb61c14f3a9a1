import { describe, expect, it } from '@jest/globals';
import { parseAnswerJson, readTokenCount } from './answer-json.js';

const MILLION = 1_000_000;
const unreadable = expect.objectContaining({ failure: 'unreadable', status: 200 }) as unknown;

describe(parseAnswerJson.name, () => {
  const read = (text: string): unknown => parseAnswerJson(text, 'an answer', 200);
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const long = `"${' '.repeat(5_000)}"`;

  it.each([
    ['what is not JSON', '{"a":'],
    ['what nests deeper than any answer', nested(100_000)],
    ['what nests a little too deep', `[${long},${nested(200)}]`],
    ['objects without end', `[${'{},'.repeat(MILLION)}{}]`],
    ['members without end', `{${'"a":1,'.repeat(MILLION)}"a":1}`],
    ['objects of 120 members without end', `[${`{${'"a":1,'.repeat(119)}"a":1},`.repeat(1_000)}1]`],
    ['texts without end', `["a\\"${',""'.repeat(MILLION)}]`],
  ])('cannot read %s', (_name, text) => {
    expect(() => read(text)).toThrow(unreadable);
  });

  it.each([
    ['nesting as deep as may be', `[${long},${nested(199)}]`],
    ['a million numbers', `[${'1,'.repeat(MILLION)}1]`],
    ['a text of brackets and quotes', JSON.stringify('[{"\\'.repeat(MILLION))],
    ['many lists one behind the other', `[${'[1],'.repeat(10_000)}1]`],
  ])('reads %s', (_name, text) => {
    expect(JSON.stringify(read(text)) === text).toBe(true);
  });
});

describe('readTokenCount', () => {
  it.each([0, 1, 1_000_000_000])('takes %d', (count) => {
    expect(readTokenCount(count)).toBe(count);
  });

  it.each([-1, 1.5, 1_000_000_001, Infinity, NaN, '5', null, undefined, [5], { count: 5 }])(
    'takes %p for nonsense',
    (value) => {
      expect(readTokenCount(value)).toBeUndefined();
    },
  );
});
