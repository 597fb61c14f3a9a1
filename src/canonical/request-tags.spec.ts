import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../test/support/chat-requests.js';
import { messagesRequest } from '../../test/support/messages-requests.js';
import { InvalidRequestError } from '../platform/errors/gateway-errors.js';
import { metadataOf, parseTagFilter, readTags } from './request-tags.js';

const tagsOf = (header?: string, metadata?: unknown): object | undefined => {
  const tags = readTags(header === undefined ? {} : { 'x-gateway-tags': header }, metadata);
  return tags && { ...tags };
};

describe(readTags.name, () => {
  it.each<[string, string | undefined, unknown, object | undefined]>([
    ['nothing', undefined, undefined, undefined],
    ['an empty header', ' ', null, undefined],
    ['a header', 'team=a, feature = b c=d', undefined, { team: 'a', feature: 'b c=d' }],
    [
      'metadata',
      undefined,
      { team: 'a', n: 1, o: {}, Team: 'no', long: 'x'.repeat(101), e: '' },
      { team: 'a' },
    ],
    [
      'both, with the header taking precedence',
      'team=a',
      { team: 'b', env: 'test' },
      { team: 'a', env: 'test' },
    ],
    ['metadata that PostgreSQL cannot store', undefined, { a: '\u0000', b: '\ud800' }, undefined],
    ['metadata of another shape', undefined, ['a'], undefined],
    [
      'names of Object.prototype members',
      'constructor=1',
      { valueof: '2' },
      { constructor: '1', valueof: '2' },
    ],
  ])('reads %s', (_, header, metadata, expected) => {
    expect(tagsOf(header, metadata)).toEqual(expected);
  });

  it('decodes UTF-8 that arrives as Latin-1', () => {
    expect(tagsOf(Buffer.from('team=Zoë').toString('latin1'))).toEqual({ team: 'Zoë' });
  });

  it('keeps ten tags, those of the header first', () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`m${n}`, 'x']));
    const tags = tagsOf('a=1,b=2', many);
    expect(Object.keys(tags!)).toHaveLength(10);
    expect(tags).toMatchObject({ a: '1', b: '2', m0: 'x', m7: 'x' });
  });

  it.each([
    ['no value', 'team'],
    ['an empty value', 'team='],
    ['an empty part', 'team=a,'],
    ['an upper-case key', 'Team=a'],
    ['a key that is too long', `${'k'.repeat(41)}=a`],
    ['a value that is too long', `team=${'v'.repeat(101)}`],
    ['a key twice', 'team=a,team=b'],
    ['eleven tags', Array.from({ length: 11 }, (_, n) => `k${n}=v`).join()],
    ['invalid UTF-8', 'team=\xff'],
  ])('rejects a header with %s and names the tag', (_, header) => {
    const read = () => tagsOf(header);
    expect(read).toThrow(InvalidRequestError);
    expect(read).toThrow(expect.objectContaining({ param: 'x-gateway-tags' }));
  });
});

describe(metadataOf.name, () => {
  it("returns the body's metadata without the end user of messages", () => {
    const metadata = { user_id: 'ann', team: 'a' };
    expect(metadataOf(chatRequest({ metadata }))).toEqual(metadata);
    expect(metadataOf(messagesRequest({ metadata }))).toEqual({ team: 'a' });
    expect(metadataOf(messagesRequest())).toBeUndefined();
  });
});

describe(parseTagFilter.name, () => {
  it('accepts both notations', () => {
    expect(parseTagFilter('team=a:b=c')).toEqual(['team', 'a:b=c']);
    expect(parseTagFilter('team:a')).toEqual(['team', 'a']);
  });

  it.each(['team', '=a', 'team=', 'Team=a'])('rejects %j', (text) => {
    expect(() => parseTagFilter(text)).toThrow(expect.objectContaining({ param: 'tag' }));
  });
});
