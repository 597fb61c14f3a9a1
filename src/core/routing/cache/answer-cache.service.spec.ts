import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import { readCacheTtl } from './answer-cache.service.js';

describe(readCacheTtl.name, () => {
  it.each([
    [undefined, undefined],
    ['false', undefined],
    ['true', 300],
    ['1', 1],
    ['0300', 300],
    ['86400', 86_400],
  ])('reads %j as %j seconds', (value, seconds) => {
    expect(readCacheTtl({ 'x-gateway-cache': value })).toBe(seconds);
  });

  it.each(['', '0', '-1', '86401', '1e3', '1.5', 'yes', 'TRUE', 'true, true', '9'.repeat(400)])(
    'refuses %j and names the header',
    (value) => {
      const read = (): unknown => readCacheTtl({ 'x-gateway-cache': value });
      expect(read).toThrow(InvalidRequestError);
      expect(read).toThrow(expect.objectContaining({ param: 'x-gateway-cache' }));
    },
  );
});
