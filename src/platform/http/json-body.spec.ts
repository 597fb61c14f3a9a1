import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { isJsonObject, parseJsonBody } from './json-body.js';

const parse = (text: string) => parseJsonBody(Buffer.from(text));

describe(parseJsonBody.name, () => {
  it('keeps the bytes beside the value and the members', () => {
    const bytes = Buffer.from('{"model": "a/b", "größe": "日本 🙂"}');
    const body = parseJsonBody(bytes);
    expect(body.bytes).toBe(bytes);
    expect(body.value).toEqual({ model: 'a/b', größe: '日本 🙂' });
    expect(body.members.map(({ key }) => key)).toEqual(['model', 'größe']);
  });

  it('reads an empty object', () => {
    expect(parse(' { } ')).toMatchObject({ value: {}, members: [] });
  });

  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['text', 'hello'],
    ['half an object', '{"a":1'],
    ['two objects', '{}{}'],
    ['a trailing comma', '{"a":1,}'],
    ['single quotes', "{'a':1}"],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"{}"'],
    ['a number', '1'],
    ['NaN', '{"a":NaN}'],
    ['a raw line break in a string', '{"a":"\n"}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['a NUL byte between the members', '{"a":1\u0000}'],
  ])('refuses %s with a 400 about the body', (_, text) => {
    expect(() => parse(text)).toThrow(InvalidRequestError);
    expect(() => parse(text)).toThrow(expect.objectContaining({ status: 400, param: 'body' }));
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['half a character', [0xe6, 0x97]],
    ['a byte that UTF-8 never has', [0xff]],
  ])('refuses %s in a string as no UTF-8', (_, octets) => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(octets), Buffer.from('"}')]);
    expect(() => parseJsonBody(bytes)).toThrow('not valid UTF-8');
  });

  it('refuses UTF-16', () => {
    expect(() => parseJsonBody(Buffer.from('{"a":1}', 'utf16le'))).toThrow(InvalidRequestError);
  });

  it('takes escaped NULs and lone surrogates, which JSON allows', () => {
    expect(parse('{"a":"\\u0000\\ud800"}').value).toEqual({ a: '\u0000\ud800' });
  });

  it('takes a member called __proto__ for what it is', () => {
    const { value, members } = parse('{"__proto__":{"model":"a/b"}}');
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(value.model).toBeUndefined();
    expect(members).toHaveLength(1);
  });

  it('takes 200 levels and names the depth of what is deeper', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(parse(nested(200)).members).toHaveLength(1);
    expect(() => parse(nested(201))).toThrow('nests 201 levels deep; at most 200');
  });

  it('does not count brackets in strings as depth', () => {
    expect(parse(`{"a":"${'['.repeat(1000)}\\"${'{'.repeat(1000)}"}`).members).toHaveLength(1);
  });

  it.each([
    ['closed arrays', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
    ['arrays left open', `{"a":${'['.repeat(1_000_000)}`],
    ['arrays alone', '['.repeat(1_000_000) + ']'.repeat(1_000_000)],
    ['objects', `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`],
  ])('refuses endlessly nested %s with a clean 400', (_, text) => {
    expect(() => parse(text)).toThrow(InvalidRequestError);
  });

  it('reads an array of 100,000 elements', () => {
    const { value, members } = parse(`{"a":[${'{"b":[1]},'.repeat(100_000)}null],"c":1}`);
    expect(value.a).toHaveLength(100_001);
    expect(members.map(({ key }) => key)).toEqual(['a', 'c']);
  });
});

describe(isJsonObject.name, () => {
  it.each([
    [{}, true],
    [{ a: 1 }, true],
    [[], false],
    [null, false],
    [undefined, false],
    ['{}', false],
    [1, false],
  ])('of %j is %s', (value, expected) => {
    expect(isJsonObject(value)).toBe(expected);
  });
});
