import { describe, expect, it } from '@jest/globals';
import { toClosedSchema } from './to-closed-schema.js';

const object = (properties: object, fields: object = {}) => ({
  type: 'object',
  properties,
  ...fields,
});

describe(toClosedSchema.name, () => {
  it('closes objects at every depth', () => {
    const schema = object(
      {
        list: { type: 'array', items: object({ a: { type: 'string' } }, { required: ['a'] }) },
        either: { oneOf: [object({}, { additionalProperties: false }), { type: 'null' }] },
        ref: { $ref: '#/$defs/leaf' },
      },
      { required: ['list', 'either', 'ref'], $defs: { leaf: object({}) }, $schema: 'x' },
    );
    const closed = { type: 'object', properties: {}, additionalProperties: false };
    expect(toClosedSchema(schema)).toEqual({
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: {
            type: 'object',
            properties: { a: { type: 'string' } },
            required: ['a'],
            additionalProperties: false,
          },
        },
        either: { anyOf: [closed, { type: 'null' }] },
        ref: { $ref: '#/$defs/leaf' },
      },
      required: ['list', 'either', 'ref'],
      $defs: { leaf: closed },
      additionalProperties: false,
    });
  });

  it('moves limits without a keyword into the description', () => {
    expect(
      toClosedSchema({ type: 'string', description: 'A name.', minLength: 3, format: 'email' }),
    ).toEqual({ type: 'string', description: 'A name.\n(minLength: 3)', format: 'email' });
    expect(toClosedSchema({ type: 'string', format: 'regex' })).toEqual({
      type: 'string',
      description: '(format: "regex")',
    });
    expect(toClosedSchema({ type: 'array', items: { type: 'null' }, minItems: 2 })).toEqual({
      type: 'array',
      items: { type: 'null' },
      description: '(minItems: 2)',
    });
    expect(toClosedSchema({ type: 'array', items: { type: 'null' }, minItems: 1 })).toEqual({
      type: 'array',
      items: { type: 'null' },
      minItems: 1,
    });
  });

  it.each<[string, object]>([
    ['any value', {}],
    ['any properties', { type: 'object' }],
    ['additional properties', object({}, { additionalProperties: true })],
    ['additional properties of a type', object({}, { additionalProperties: { type: 'string' } })],
    ['properties by pattern', object({}, { patternProperties: { '^a': { type: 'string' } } })],
    ['any properties or null', { type: ['object', 'null'] }],
    ['any items', { type: 'array', items: true }],
    ['itself', object({ next: { $ref: '#' } })],
    [
      'indirect recursion',
      {
        $ref: '#/$defs/a',
        $defs: {
          a: object({ b: { $ref: '#/$defs/b' } }),
          b: object({ a: { type: 'array', items: { $ref: '#/$defs/a' } } }),
        },
      },
    ],
    ['another document', { $ref: 'https://a.example/schema' }],
    [
      'too many optional properties',
      object(Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`p${i}`, { type: 'null' }]))),
    ],
  ])('returns undefined for a schema with %s', (_, schema) => {
    expect(toClosedSchema(schema as Record<string, unknown>)).toBeUndefined();
  });

  it.each([
    ['chain thousands of references', (next: number) => next, true],
    ['loop back after thousands', (next: number) => next % 20_000, false],
  ])('detects whether definitions that %s are supported', (_, nextOf, canBe) => {
    const names = Array.from({ length: 20_000 }, (_each, index) => index);
    const $defs: Record<string, object> = Object.fromEntries(
      names.map((index) => [`d${index}`, { $ref: `#/$defs/d${nextOf(index + 1)}` }]),
    );
    $defs.d20000 = { type: 'string' };
    expect(toClosedSchema({ $ref: '#/$defs/d0', $defs }) !== undefined).toBe(canBe);
  });

  it('does not mistake a definition used twice for recursion', () => {
    const schema = object(
      { a: { $ref: '#/definitions/leaf' }, b: { $ref: '#/definitions/leaf' } },
      { definitions: { leaf: { enum: ['x'] } } },
    );
    expect(toClosedSchema(schema)).toBeDefined();
  });
});
