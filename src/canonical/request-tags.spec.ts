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
      'both, where the header wins',
      'team=a',
      { team: 'b', env: 'test' },
      { team: 'a', env: 'test' },
    ],
    ['metadata that no table takes', undefined, { a: '\u0000', b: '\ud800' }, undefined],
    ['metadata of another shape', undefined, ['a'], undefined],
    [
      "names of an object's own",
      'constructor=1',
      { valueof: '2' },
      { constructor: '1', valueof: '2' },
    ],
  ])('reads %s', (_, header, metadata, expected) => {
    expect(tagsOf(header, metadata)).toEqual(expected);
  });

  it('reads UTF-8, which arrives as Latin-1', () => {
    expect(tagsOf(Buffer.from('team=Zoë').toString('latin1'))).toEqual({ team: 'Zoë' });
  });

  it('keeps ten, those of the header first', () => {
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
    ['bytes that are no text', 'team=\xff'],
  ])('refuses a header with %s, naming it', (_, header) => {
    const read = () => tagsOf(header);
    expect(read).toThrow(InvalidRequestError);
    expect(read).toThrow(expect.objectContaining({ param: 'x-gateway-tags' }));
  });
});

describe(metadataOf.name, () => {
  it('is that of the body, but for the end user of messages', () => {
    const metadata = { user_id: 'ann', team: 'a' };
    expect(metadataOf(chatRequest({ metadata }))).toEqual(metadata);
    expect(metadataOf(messagesRequest({ metadata }))).toEqual({ team: 'a' });
    expect(metadataOf(messagesRequest())).toBeUndefined();
  });
});

describe(parseTagFilter.name, () => {
  it('takes both ways to write one', () => {
    expect(parseTagFilter('team=a:b=c')).toEqual(['team', 'a:b=c']);
    expect(parseTagFilter('team:a')).toEqual(['team', 'a']);
  });

  it.each(['team', '=a', 'team=', 'Team=a'])('refuses %j', (text) => {
    expect(() => parseTagFilter(text)).toThrow(expect.objectContaining({ param: 'tag' }));
  });
});
