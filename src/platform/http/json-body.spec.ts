import { describe, expect, it, jest } from '@jest/globals';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { BodyBudget } from './body-budget.js';
import { isJsonObject, parseJsonBody } from './json-body.js';
import { JsonScanner } from './json-scanner.js';

const parse = (text: string) => parseJsonBody(Buffer.from(text));
/** Returns objects with different member names. */
const objects = (count: number, size: number, value = '1') =>
  Array.from({ length: count }, (_, object) => {
    const members = Array.from({ length: size }, (_, member) => `"${object}-${member}":${value}`);
    return `{${members.join(',')}}`;
  }).join(',');

describe(parseJsonBody.name, () => {
  it('keeps the bytes, the value and the members', () => {
    const bytes = Buffer.from('{"model": "a/b", "größe": "日本 🙂"}');
    const body = parseJsonBody(bytes);
    expect(body.bytes).toBe(bytes);
    expect(body.value).toEqual({ model: 'a/b', größe: '日本 🙂' });
    expect(body.members.map(({ key }) => key)).toEqual(['model', 'größe']);
  });

  it('does not scan bytes again that were scanned on arrival', () => {
    const bytes = Buffer.from('{"model":"a/b","messages":["x"]}');
    const scanned = new JsonScanner().add(bytes.subarray(0, 20));
    const add = jest.spyOn(JsonScanner.prototype, 'add');
    const { members } = parseJsonBody(bytes, { scanned });
    expect(add).toHaveBeenCalledTimes(1);
    scanned.add(bytes.subarray(20));
    expect(parseJsonBody(bytes, { scanned }).members).toEqual(members);
    expect(add).toHaveBeenCalledTimes(2);
    add.mockRestore();
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
  ])('rejects %s with a 400 about the body', (_, text) => {
    expect(() => parse(text)).toThrow(InvalidRequestError);
    expect(() => parse(text)).toThrow(expect.objectContaining({ status: 400, param: 'body' }));
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['half a character', [0xe6, 0x97]],
    ['a byte that UTF-8 never has', [0xff]],
  ])('rejects %s in a string as invalid UTF-8', (_, octets) => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(octets), Buffer.from('"}')]);
    expect(() => parseJsonBody(bytes)).toThrow('not valid UTF-8');
  });

  it('rejects UTF-16', () => {
    expect(() => parseJsonBody(Buffer.from('{"a":1}', 'utf16le'))).toThrow(InvalidRequestError);
  });

  it.each([
    ['{"a": 1, "b": 2, "a": 3}', '{"a":3,"b":2}'],
    ['{"a": [{"b": "x", "b": "y"}]}', '{"a":[{"b":"y"}]}'],
    ['{"a": {"\\u0062": 1, "b": 2}}', '{"a":{"b":2}}'],
    ['{"a": {"__proto__": 1, "__proto__": {}}}', '{"a":{"__proto__":{}}}'],
  ])('keeps the last of the repeated members of %s, also in the bytes', (text, expected) => {
    const { bytes, members } = parse(text);
    expect(bytes.toString()).toBe(expected);
    expect(members.map(({ key }) => key)).toEqual(Object.keys(JSON.parse(expected) as object));
  });

  it.each([
    '{"a": {"b": 1}, "b": {"a": 1}}',
    '{"a": "b: c: d, \\"e\\": {:", "f:": ":"}',
    '{"__proto__": {"constructor": 1}, "": null, "a": [[], [{}], "\\\\"], "n": 9007199254740993}',
  ])('leaves %s unchanged', (text) => {
    expect(parse(text).bytes.toString()).toBe(text);
  });

  it('accepts escaped NULs and lone surrogates, which JSON allows', () => {
    expect(parse('{"a":"\\u0000\\ud800"}').value).toEqual({ a: '\u0000\ud800' });
  });

  it('treats __proto__ as an ordinary member', () => {
    const { value, members } = parse('{"__proto__":{"model":"a/b"}}');
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(value.model).toBeUndefined();
    expect(members).toHaveLength(1);
  });

  it('accepts 200 levels and reports the depth of deeper bodies', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(parse(nested(200)).members).toHaveLength(1);
    expect(() => parse(nested(201))).toThrow('nested 201 levels deep; at most 200');
  });

  it('does not count brackets in strings as depth', () => {
    expect(parse(`{"a":"${'['.repeat(1000)}\\"${'{'.repeat(1000)}"}`).members).toHaveLength(1);
  });

  it.each([
    ['closed arrays', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
    ['arrays left open', `{"a":${'['.repeat(1_000_000)}`],
    ['arrays alone', '['.repeat(1_000_000) + ']'.repeat(1_000_000)],
    ['objects', `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`],
  ])('rejects endlessly nested %s with a clean 400', (_, text) => {
    expect(() => parse(text)).toThrow(InvalidRequestError);
  });

  // The outer object, its member and the member's value are three parts; 127 members in a row count for 1,984 more.
  it.each([
    ['members', `{"a":{${'"b":"c",'.repeat(98_012)}"d":1}}`],
    ['50 objects of 120 members', `{"a":[${objects(50, 120)}]}`],
    ['a hundred and more tools of 50 parameters', `{"a":[${objects(128, 50, '{"type":"x"}')}]}`],
    ['objects', `{"a":[${'{},'.repeat(99_996)}[]]}`],
    ['strings', `{"a":[${'"x" , '.repeat(99_996)}"\\":"]}`],
    ['marks in strings', `{"a":[],"b":"${',:[]{}\\"'.repeat(500_000)}"}`],
  ])('accepts 100,000 parts: %s', (_, text) => {
    expect(Object.keys(parse(text).value)[0]).toBe('a');
  });

  it.each([
    ['members', `{"a":[],${'"b": "c",'.repeat(98_013)}"d":1}`],
    ['60 objects of 120 members', `{"a":[${objects(60, 120)}]}`],
    ['members with arrays', `{${'"b":[],'.repeat(50_000)}"d":1}`],
    ['objects', `{"a":[${'{},'.repeat(99_997)}[]]}`],
    ['strings', `{"a":[${'"x",'.repeat(99_997)}"y"]}`],
    ['990,000 members', `{${'"b":1,'.repeat(990_000)}"d":1}`],
    ['2 MB of empty objects', `{"a":[${'{},'.repeat(700_000)}1]}`],
    ['invalid JSON', '['.repeat(100_001)],
  ])('rejects more parts with a 400 before building them: %s', (_, text) => {
    const building = jest.spyOn(JSON, 'parse');
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        status: 400,
        param: 'body',
        message: expect.stringContaining('100,000'),
      }),
    );
    expect(building).not.toHaveBeenCalled();
    building.mockRestore();
  });

  it('accepts at most 1,000 top-level members', () => {
    const members = `{${Array.from({ length: 999 }, (_, index) => `"b${index}":"c",`).join('')}`;
    expect(parse(`${members}"d":1}`).members).toHaveLength(1_000);
    expect(() => parse(`${members}"d":1,"e":2}`)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining('1,000 members') }),
    );
  });

  it('accepts 2,048 arrays of tokens, which are cheap', () => {
    const tokens = `[${'1234,'.repeat(1_500)}1]`;
    const { value } = parse(`{"input":[${`${tokens},`.repeat(2_047)}${tokens}]}`);
    expect(value.input).toHaveLength(2_048);
  });

  it.each(['[', '{"a":', '{},', '"', '\\"', '\\\\', 'x', '"\\u":', '":'])(
    'scans 20 MB of %s quickly',
    (piece) => {
      const startedMs = performance.now();
      expect(() => parseJsonBody(Buffer.alloc(20_000_000, piece))).toThrow(InvalidRequestError);
      expect(performance.now() - startedMs).toBeLessThan(15_000);
    },
  );
});

describe('the parsed value of a body', () => {
  const large = `{"a":[${'{},'.repeat(1_000)}1]}`;
  const lease = () => new BodyBudget(10_000_000).shareOf('a').lease(undefined);

  it('is released when large, and parsed again on the next read', () => {
    const body = parse(large);
    const { value } = body;
    expect(body.value).toBe(value);
    body.forget!();
    expect(body.value).toEqual(value);
    expect(body.value).not.toBe(value);
    const small = parse('{"a":1}');
    const kept = small.value;
    small.forget!();
    expect(small.value).toBe(kept);
  });

  it('is released when small only on request, and parsed again on the next read', () => {
    const body = parse('{"model":"a/b","n":1}');
    const { value, members } = body;
    body.forget!('always');
    expect(body.value).not.toBe(value);
    expect(body.value).toEqual(value);
    expect(body.members).not.toBe(members);
    expect(body.members).toEqual(members);
  });

  it('is counted once and released once', () => {
    const taken: number[] = [];
    const counted = lease();
    jest.spyOn(counted, 'add').mockImplementation((bytes) => void taken.push(bytes));
    const body = parseJsonBody(Buffer.from(large), { lease: counted });
    body.forget!();
    expect(body.value.a).toHaveLength(1_001);
    body.forget!();
    expect(taken).toEqual([expect.any(Number), -taken[0]!]);
    expect(taken[0]).toBeGreaterThan(80_000);
  });

  it('is not built without memory for it', () => {
    const building = jest.spyOn(JSON, 'parse');
    const small = new BodyBudget(20_000).shareOf('a').lease(undefined);
    expect(() => parseJsonBody(Buffer.from(large), { lease: small })).toThrow(
      expect.objectContaining({ status: 503 }),
    );
    expect(building).not.toHaveBeenCalled();
    building.mockRestore();
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
