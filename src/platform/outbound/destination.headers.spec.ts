import { describe, expect, it } from '@jest/globals';
import { findHeaderProblem } from './destination.js';

describe(findHeaderProblem.name, () => {
  it.each([
    ['Authorization', 'Bearer x'],
    ['X-Signature', 'é\tx'],
    ['x-empty', ''],
    ['x'.repeat(128), 'x'.repeat(4_096)],
  ])('accepts %j: %j', (name, value) => {
    expect(findHeaderProblem(name, value)).toBeUndefined();
  });

  it.each([
    ['Bad Name', 'x'],
    ['', 'x'],
    ['X-A:', 'x'],
    ['X-A\r\nX-B', 'x'],
    ['X-Ä', 'x'],
    ['X-A', 'a\r\nX-B: c'],
    ['X-A', 'a\nb'],
    ['X-A', 'a\0b'],
    ['X-A', 'a\u007fb'],
    ['X-A', '日本'],
    ['X-A', 'x'.repeat(4_097)],
    ['x'.repeat(129), 'x'],
    ['Host', 'x'],
    ['content-length', '3'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'close'],
    ['Upgrade', 'h2c'],
    ['TE', 'trailers'],
    ['Expect', '100-continue'],
    ['Proxy-Authorization', 'x'],
    ['Proxy-Authenticate', 'x'],
  ])('rejects %j: %j', (name, value) => {
    expect(findHeaderProblem(name, value)).toEqual(expect.any(String));
  });
});
