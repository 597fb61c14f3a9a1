import { describe, expect, it } from '@jest/globals';
import { readHeaders, writeHeaders } from './headers';

describe('headers form', () => {
  it('round-trips headers whose values contain colons', () => {
    const headers = { authorization: 'Bearer a:b', 'x-team': '********' };
    expect(readHeaders(writeHeaders(headers))).toEqual(headers);
    expect(readHeaders(writeHeaders({}))).toEqual({});
  });

  it('trims whitespace and keeps names without a value for the API to reject', () => {
    expect(readHeaders(' X-Key :  1 \n\n  \nalone\n')).toEqual({ 'X-Key': '1', alone: '' });
  });
});
