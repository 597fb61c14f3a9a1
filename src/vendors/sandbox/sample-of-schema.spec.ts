import { Ajv } from 'ajv';
import { describe, expect, it } from '@jest/globals';
import { sampleOfSchema } from './sample-of-schema.js';

describe(sampleOfSchema.name, () => {
  it.each<[object, unknown]>([
    [{ type: 'string' }, 'sandbox'],
    [{ type: 'string', minLength: 9 }, 'sandbox..'],
    [{ type: 'integer' }, 1],
    [{ type: 'number', minimum: 2.5 }, 2.5],
    [{ type: 'boolean' }, true],
    [{ type: 'null' }, null],
    [{ type: ['integer', 'null'] }, 1],
    [{ enum: ['b', 'a'] }, 'b'],
    [{ const: { x: 1 } }, { x: 1 }],
    [{ type: 'array', items: { type: 'integer' } }, [1]],
    [{ type: 'array', minItems: 2, items: { type: 'string' } }, ['sandbox', 'sandbox']],
    [{ type: 'array', minItems: 0 }, []],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    [{ oneOf: [{ $ref: '#/$defs/x' }], $defs: { x: { const: 7 } } }, 7],
    [{ type: 'object' }, {}],
    [{}, {}],
    [
      {
        type: 'object',
        required: ['a'],
        properties: { a: { type: 'string' }, b: { $ref: '#/$defs/b' } },
        $defs: { b: { type: 'array', items: { enum: [3] } } },
      },
      { a: 'sandbox', b: [3] },
    ],
  ])('fits %j', (schema, sample) => {
    expect(sampleOfSchema(schema)).toEqual(sample);
    expect(new Ajv({ strict: false }).validate(schema, sample)).toBe(true);
  });

  it.each([
    undefined,
    null,
    true,
    'x',
    { $ref: '#/nowhere' },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
    { $ref: '#' },
    { $ref: 'https://example.com/schema' },
    { $ref: '#/__proto__/constructor' },
    { type: 'string', minLength: 'x' },
    { type: 'string', minLength: -1 },
    { type: 'array', minItems: -5 },
    { type: 'array', minItems: 'x' },
    { type: 'number', minimum: 'x' },
    { type: 7 },
    { anyOf: [] },
    { properties: [] },
  ])('handles %j', (schema) => {
    expect(JSON.stringify(sampleOfSchema(schema)).length).toBeLessThan(100);
  });

  it('limits recursion', () => {
    const tree = { type: 'object', properties: { child: { $ref: '#' } } };
    expect(JSON.stringify(sampleOfSchema(tree)).length).toBeLessThan(200);
  });

  it.each<[string, object]>([
    ['a very long string', { type: 'string', minLength: 500_000_000 }],
    ['an endless string', { type: 'string', minLength: Infinity }],
    ['a very long array', { type: 'array', minItems: 1e9, items: { type: 'integer' } }],
    [
      'arrays within arrays',
      Array.from({ length: 12 }).reduce<object>(
        (items) => ({ type: 'array', minItems: 10, items }),
        { type: 'integer' },
      ),
    ],
    [
      'references that multiply',
      {
        $ref: '#/$defs/a',
        $defs: {
          a: {
            properties: Object.fromEntries(
              Array.from({ length: 100 }, (_, index) => [`p${index}`, { $ref: '#/$defs/a' }]),
            ),
          },
        },
      },
    ],
    [
      'a very long string in a very long array',
      { type: 'array', minItems: 1e6, items: { type: 'string', minLength: 1e9 } },
    ],
  ])('stays small and quick for %s', (_, schema) => {
    const startedMs = performance.now();
    expect(JSON.stringify(sampleOfSchema(schema)).length).toBeLessThan(200_000);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});
