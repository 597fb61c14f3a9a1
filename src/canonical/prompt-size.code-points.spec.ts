import { describe, expect, it } from '@jest/globals';
import { countCodePoints } from './prompt-size.js';

describe('countCodePoints', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['你好', 2],
    ['👋', 1],
    ['a👋b👋', 4],
    ['\ud83d', 1],
    ['\udc4b\ud83d', 2],
  ])('counts %j as %i', (text, count) => {
    expect(countCodePoints(text)).toBe(count);
  });
});
