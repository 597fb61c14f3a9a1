import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../../../test/support/seeded-random.js';
import { topLevelMembers, spliceMembers } from './top-level-members.js';

/** Returns the members as pairs of key and value text. */
function membersOf(text: string): [string, string][] {
  const bytes = Buffer.from(text);
  return topLevelMembers(bytes).map(({ key, valueStart, valueEnd }) => [
    key,
    bytes.toString('utf8', valueStart, valueEnd),
  ]);
}

function splice(text: string, edits: Record<string, string | undefined>): string {
  const bytes = Buffer.from(text);
  const members = topLevelMembers(bytes);
  return spliceMembers(bytes, members, new Map(Object.entries(edits))).toString('utf8');
}

describe(topLevelMembers.name, () => {
  it('finds values of every kind', () => {
    const text = '{"s":"x","n":-1.5e3,"t":true,"f":false,"z":null,"a":[1,{"b":2}],"o":{"c":[3]}}';
    expect(membersOf(text)).toEqual([
      ['s', '"x"'],
      ['n', '-1.5e3'],
      ['t', 'true'],
      ['f', 'false'],
      ['z', 'null'],
      ['a', '[1,{"b":2}]'],
      ['o', '{"c":[3]}'],
    ]);
  });

  it('excludes white space around values', () => {
    expect(membersOf(' \r\n{\t"a" : 1 ,\n "b"\t:\r\n[ 2 , 3 ]\n} \n')).toEqual([
      ['a', '1'],
      ['b', '[ 2 , 3 ]'],
    ]);
  });

  it('reads keys with escapes', () => {
    expect(membersOf('{"mod\\u0065l":1,"a\\"b":2,"c\\\\":3,"\\ud83d\\ude42":4}')).toEqual([
      ['model', '1'],
      ['a"b', '2'],
      ['c\\', '3'],
      ['🙂', '4'],
    ]);
  });

  it('is not misled by strings', () => {
    const text = '{"a":"}],\\"model\\":\\"x\\"","b":"\\\\","c":"\\\\\\"","{":{"d":"}"},"e":""}';
    expect(membersOf(text)).toEqual([
      ['a', '"}],\\"model\\":\\"x\\""'],
      ['b', '"\\\\"'],
      ['c', '"\\\\\\""'],
      ['{', '{"d":"}"}'],
      ['e', '""'],
    ]);
  });

  it('counts in bytes, not in characters', () => {
    expect(membersOf('{"größe":"日本","🙂":"é"}')).toEqual([
      ['größe', '"日本"'],
      ['🙂', '"é"'],
    ]);
  });

  it('lists a repeated key each time', () => {
    expect(membersOf('{"a":1,"b":2,"a":3}')).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ]);
  });

  it('reads a long run of backslashes and quotes in linear time', () => {
    const value = '\\\\'.repeat(500_000) + '\\"'.repeat(500_000);
    const startedMs = performance.now();
    expect(membersOf(`{"a":"${value}","b":1}`)[1]).toEqual(['b', '1']);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

describe(spliceMembers.name, () => {
  it('replaces, removes and adds members and keeps all others byte for byte', () => {
    const text = '{"model" : "a/b" , "temperature":1.0, "stop":["\\u0041"], "provider":{}}';
    const edited = splice(text, { model: '"x"', provider: undefined, store: 'false' });
    expect(edited).toBe('{"model" : "x","temperature":1.0,"stop":["\\u0041"],"store":false}');
  });

  it.each([
    ['{}', { a: '1' }, '{"a":1}'],
    ['{ }', {}, '{ }'],
    ['{"a":1}', { a: undefined }, '{}'],
    ['{"a":1}', { b: undefined }, '{"a":1}'],
    ['{"a":1,"b":2}', { a: undefined, b: undefined, c: '3' }, '{"c":3}'],
  ])('turns %s with %j into %s', (text, edits, expected) => {
    expect(splice(text, edits)).toBe(expected);
  });

  it('edits a member however its key is encoded', () => {
    expect(JSON.parse(splice('{"mod\\u0065l":"a/b"}', { model: '"x"' }))).toEqual({ model: 'x' });
    expect(splice('{"\\u0070rovider":1}', { provider: undefined })).toBe('{}');
  });

  it('keeps the last of a repeated key, as parsers do, and edits it once', () => {
    expect(JSON.parse(splice('{"a":1,"b":2,"a":3}', {}))).toEqual({ a: 3, b: 2 });
    expect(splice('{"model":"a","mod\\u0065l":"b"}', { model: '"x"' }).match(/"x"/g)).toHaveLength(
      1,
    );
    expect(splice('{"a":1,"a":2}', { a: undefined })).toBe('{}');
  });

  it('encodes added keys as JSON', () => {
    expect(JSON.parse(splice('{}', { 'a"\n': '1' }))).toEqual({ 'a"\n': 1 });
  });

  it.each([1, 2, 3, 4])('equals editing the parsed object (seed %d)', (seed) => {
    const random = new SeededRandom(seed);
    for (let round = 0; round < 500; round++) {
      const text = spellObject(random, 0);
      const edits = new Map<string, string | undefined>();
      for (let count = random.below(4); count > 0; count--) {
        edits.set(random.pick(KEYS), random.below(3) === 0 ? undefined : spellValue(random, 2));
      }
      const bytes = Buffer.from(text);
      const members = topLevelMembers(bytes);
      const edited = spliceMembers(bytes, members, edits).toString('utf8');

      const expected = new Map(Object.entries(JSON.parse(text) as object));
      for (const [key, value] of edits) {
        if (value === undefined) expected.delete(key);
        else expected.set(key, JSON.parse(value));
      }
      expect({ text, object: JSON.parse(edited) as unknown }).toEqual({
        text,
        object: Object.fromEntries(expected),
      });
    }
  });
});

const KEYS = [
  'model',
  'a',
  '',
  'a"b',
  '\\',
  'größe',
  '🙂',
  '{',
  '}',
  'constructor',
  'b c',
  '\u0000',
];
const TEXTS = [
  '',
  'x',
  '"',
  '\\',
  '\\"',
  '}',
  ']',
  ',',
  ':',
  '日本',
  '🙂',
  '\ud800',
  '\n',
  'model',
];
const SPACES = ['', '', '', ' ', '\n', '\t ', '\r\n'];

function spellObject(random: SeededRandom, depth: number): string {
  const space = (): string => random.pick(SPACES);
  const members = Array.from({ length: random.below(6) }, () => {
    const key = spellString(random, random.pick(KEYS));
    return `${space()}${key}${space()}:${space()}${spellValue(random, depth + 1)}${space()}`;
  });
  return `${space()}{${members.join(',') || space()}}${space()}`;
}

function spellValue(random: SeededRandom, depth: number): string {
  switch (random.below(depth > 3 ? 4 : 6)) {
    case 0:
      return random.pick(['0', '-1', '1.50', '1e5', '12345678901234567890']);
    case 1:
      return random.pick(['true', 'false', 'null']);
    case 2:
    case 3:
      return spellString(random, random.pick(TEXTS) + random.pick(TEXTS) + random.pick(TEXTS));
    case 4:
      return spellObject(random, depth).trim();
    default: {
      const items = Array.from({ length: random.below(4) }, () => spellValue(random, depth + 1));
      return `[${items.join(random.pick([',', ' , ']))}]`;
    }
  }
}

/** Encodes a string as JSON, with some needless escapes. */
function spellString(random: SeededRandom, text: string): string {
  const inner = JSON.stringify(text).slice(1, -1);
  if (random.below(2) === 0) return `"${inner}"`;
  const escaped = [...text]
    .map((character) => {
      const units = Array.from({ length: character.length }, (_, index) =>
        character.charCodeAt(index).toString(16).padStart(4, '0'),
      );
      if (random.below(2) === 0) return units.map((unit) => `\\u${unit}`).join('');
      return JSON.stringify(character).slice(1, -1);
    })
    .join('');
  return `"${escaped}"`;
}
