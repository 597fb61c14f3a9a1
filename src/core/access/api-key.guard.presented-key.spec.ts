import { describe, expect, it } from '@jest/globals';
import { AuthenticationError } from '../../platform/errors/gateway-errors.js';
import { readPresentedKey } from './api-key.guard.js';

describe(readPresentedKey.name, () => {
  it.each(['Bearer sk-a', 'bearer sk-a', 'BEARER   sk-a  ', 'Bearer\tsk-a'])(
    'reads the bearer key of %j',
    (authorization) => {
      expect(readPresentedKey({ authorization }, false)).toBe('sk-a');
    },
  );

  it('keeps spaces inside a key', () => {
    expect(readPresentedKey({ authorization: 'Bearer sk-my local key: 1' }, false)).toBe(
      'sk-my local key: 1',
    );
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Bearer    ', 'Bearersk-a', 'Basic c2s6', 'sk-a'])(
    'refuses %j',
    (authorization) => {
      expect(() => readPresentedKey({ authorization }, false)).toThrow(AuthenticationError);
      expect(() => readPresentedKey({ authorization }, true)).toThrow(AuthenticationError);
    },
  );

  it('names the header at fault', () => {
    expect(() => readPresentedKey({}, false)).toThrow(
      expect.objectContaining({ status: 401, param: 'authorization' }),
    );
  });

  it('reads x-api-key only where it is accepted', () => {
    expect(readPresentedKey({ 'x-api-key': ' sk-a ' }, true)).toBe('sk-a');
    expect(() => readPresentedKey({ 'x-api-key': 'sk-a' }, false)).toThrow(/x-api-key/);
  });

  it('prefers a bearer key, and x-api-key over another scheme', () => {
    const headers = { authorization: 'Bearer sk-a', 'x-api-key': 'sk-b' };
    expect(readPresentedKey(headers, true)).toBe('sk-a');
    expect(readPresentedKey({ ...headers, authorization: 'Basic c2s6' }, true)).toBe('sk-b');
  });

  it('never repeats the header value', () => {
    expect(() => readPresentedKey({ authorization: 'sk-secret' }, true)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sk-secret') }),
    );
  });
});
