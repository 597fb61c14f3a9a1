import { describe, expect, it } from '@jest/globals';
import { parseAnswerJson, readTokenCount } from './answer-json.js';

const MILLION = 1_000_000;
const unreadable = expect.objectContaining({ failure: 'unreadable', status: 200 }) as unknown;

describe(parseAnswerJson.name, () => {
  const read = (text: string): unknown => parseAnswerJson(text, 'an answer', 200);
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const long = `"${' '.repeat(5_000)}"`;

  it.each([
    ['invalid JSON', '{"a":'],
    ['nesting far beyond the limit', nested(100_000)],
    ['nesting just beyond the limit', `[${long},${nested(200)}]`],
    ['too many objects', `[${'{},'.repeat(MILLION)}{}]`],
    ['too many members', `{${'"a":1,'.repeat(MILLION)}"a":1}`],
    ['too many objects of 120 members', `[${`{${'"a":1,'.repeat(119)}"a":1},`.repeat(1_000)}1]`],
    ['too many strings', `["a\\"${',""'.repeat(MILLION)}]`],
  ])('rejects %s', (_name, text) => {
    expect(() => read(text)).toThrow(unreadable);
  });

  it.each([
    ['the deepest allowed nesting', `[${long},${nested(199)}]`],
    ['a million numbers', `[${'1,'.repeat(MILLION)}1]`],
    ['a string of brackets and quotes', JSON.stringify('[{"\\'.repeat(MILLION))],
    ['many lists in a row', `[${'[1],'.repeat(10_000)}1]`],
  ])('reads %s', (_name, text) => {
    expect(JSON.stringify(read(text)) === text).toBe(true);
  });
});

describe('readTokenCount', () => {
  it.each([0, 1, 1_000_000_000])('accepts %d', (count) => {
    expect(readTokenCount(count)).toBe(count);
  });

  it.each([-1, 1.5, 1_000_000_001, Infinity, NaN, '5', null, undefined, [5], { count: 5 }])(
    'returns undefined for %p',
    (value) => {
      expect(readTokenCount(value)).toBeUndefined();
    },
  );
});
