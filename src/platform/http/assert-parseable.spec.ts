import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { assertParseable } from './assert-parseable.js';

const check = (text: string): void => assertParseable(Buffer.from(text));
/** An object with so many brackets, commas and colons, and more bytes than that. */
const withMarks = (count: number): string => `{"a":[12${',34'.repeat(count - 3)}]}`;

describe(assertParseable.name, () => {
  it.each([
    ['two million marks', withMarks(2_000_000)],
    ['marks in a string', `{"a":"${',:[]{}\\"'.repeat(500_000)}"}`],
    ['a string that is left open', `{"a":"${',:[]{}'.repeat(500_000)}`],
    ['what is no JSON', 'x'.repeat(2_000_000)],
    ['nothing', ''],
  ])('lets pass %s', (_name, text) => {
    expect(() => check(text)).not.toThrow();
  });

  it.each([
    ['two million marks and one', withMarks(2_000_001)],
    ['nothing but brackets', '['.repeat(2_000_001)],
    ['many empty objects', `{"a":[${'{},'.repeat(1_000_000)}1]}`],
    ['many members', `{${'"a":1,'.repeat(1_000_000)}"b":1}`],
    ['many levels', '{"a":'.repeat(1_000_001)],
  ])('refuses %s', (_name, text) => {
    expect(() => check(text)).toThrow('2,000,000');
    expect(() => check(text)).toThrow(InvalidRequestError);
  });

  it.each(['[', '{"a":', '{},', '"', '\\"', '\\\\', 'x'])('soon, also 20 MB of %s', (piece) => {
    const body = Buffer.alloc(20_000_000, piece);
    const startedMs = performance.now();
    try {
      assertParseable(body);
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidRequestError);
    }
    expect(performance.now() - startedMs).toBeLessThan(15_000);
  });
});
