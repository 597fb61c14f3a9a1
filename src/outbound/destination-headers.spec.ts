import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../common/errors/gateway-errors.js';
import { assertDestinationHeaders } from './destination-headers.js';

const check = (headers: Record<string, string>) => (): void =>
  assertDestinationHeaders(headers, 'headers');

describe(assertDestinationHeaders.name, () => {
  it.each<Record<string, string>>([
    {},
    { Authorization: 'Bearer x' },
    { 'X-Signature': 'é\tx', 'x-empty': '' },
  ])('takes %j', (headers) => {
    expect(check(headers)).not.toThrow();
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
  ])('refuses %j: %j, naming the header', (name, value) => {
    expect(check({ [name]: value })).toThrow(InvalidRequestError);
    expect(check({ [name]: value })).toThrow(
      expect.objectContaining({ param: `headers.${name.slice(0, 128)}` }),
    );
  });

  it('refuses more than 20 headers, and one that is given twice', () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'x']));
    expect(check(many)).toThrow(expect.objectContaining({ param: 'headers' }));
    expect(check({ 'X-A': '1', 'x-a': '2' })).toThrow(
      expect.objectContaining({ param: 'headers.x-a' }),
    );
  });
});
