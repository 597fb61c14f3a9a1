import { describe, expect, it } from '@jest/globals';
import { readHeaders, writeHeaders } from './headers';

describe('headers in a form', () => {
  it('come back as they were, with colons in their values', () => {
    const headers = { authorization: 'Bearer a:b', 'x-team': '********' };
    expect(readHeaders(writeHeaders(headers))).toEqual(headers);
    expect(readHeaders(writeHeaders({}))).toEqual({});
  });

  it('take blanks and empty lines, and leave it to the API to refuse a name alone', () => {
    expect(readHeaders(' X-Key :  1 \n\n  \nalone\n')).toEqual({ 'X-Key': '1', alone: '' });
  });
});
