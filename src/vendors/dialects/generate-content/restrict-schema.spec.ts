import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { restrictSchema } from './restrict-schema.js';

describe(restrictSchema.name, () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'supported keywords',
      {
        type: 'object',
        description: 'd',
        properties: { a: { type: 'array', items: { type: 'string' }, minItems: 1 } },
        required: ['a'],
        additionalProperties: false,
        anyOf: [{ title: 't' }],
      },
      {
        type: 'object',
        description: 'd',
        properties: { a: { type: 'array', items: { type: 'string' }, minItems: 1 } },
        required: ['a'],
        additionalProperties: false,
        anyOf: [{ title: 't' }],
      },
    ],
    [
      'annotations',
      { $schema: 'http://x', $id: 'y', $comment: 'c', default: 1, examples: [1], 'x-order': 1 },
      {},
    ],
    ['a constant', { const: 'a' }, { enum: ['a'] }],
    ['a constant number', { const: 0 }, { enum: [0] }],
    [
      'exclusive bounds of an integer',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: 'integer', minimum: 1, maximum: 9 },
    ],
    [
      'an alternative that may be null',
      { type: ['string', 'null'], enum: ['a', null] },
      { type: ['string', 'null'], enum: ['a'] },
    ],
    ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    ['not nullable', { type: 'string', nullable: false }, { type: 'string' }],
    [
      'references with definitions of either name',
      { $ref: '#/definitions/A', definitions: { A: { const: 'x' } }, description: 'd' },
      { $ref: '#/$defs/A', $defs: { A: { enum: ['x'] } } },
    ],
    [
      'an allOf of one',
      { allOf: [{ $ref: '#/$defs/A' }], description: 'd', default: {} },
      { $ref: '#/$defs/A' },
    ],
    ['a tuple', { items: [{ const: 1 }, true] }, { prefixItems: [{ enum: [1] }, {}] }],
    [
      'properties named like keywords',
      { properties: { const: { type: 'string' }, pattern: { const: 'p' }, $ref: {} } },
      { properties: { const: { type: 'string' }, pattern: { enum: ['p'] }, $ref: {} } },
    ],
  ])('keeps the meaning of %s', (_name, schema, expected) => {
    expect(restrictSchema(schema)).toEqual({ schema: expected, isExact: true });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a pattern', { type: 'string', pattern: '^a' }, { type: 'string' }],
    ['lengths', { minLength: 1, maxLength: 2 }, {}],
    ['an exclusive bound of a number', { type: 'number', exclusiveMinimum: 0 }, { type: 'number' }],
    [
      'two lower bounds',
      { type: 'integer', minimum: 5, exclusiveMinimum: 0 },
      { type: 'integer', minimum: 5 },
    ],
    ['not', { not: { type: 'string' } }, {}],
    ['an allOf of several', { allOf: [{ type: 'object' }, { required: ['a'] }] }, {}],
    [
      'an allOf that conflicts with its siblings',
      { properties: { a: {} }, allOf: [{ properties: { b: {} } }] },
      { properties: { a: {} } },
    ],
    ['booleans in a list', { enum: [true, false] }, {}],
    ['a constant null', { const: null }, {}],
    ['a forbidden property', { properties: { a: false } }, { properties: { a: {} } }],
    [
      'constraints next to a reference',
      { $ref: '#/$defs/A', type: 'object' },
      { $ref: '#/$defs/A' },
    ],
  ])('reports that it drops %s', (_name, schema, expected) => {
    expect(restrictSchema(schema)).toEqual({ schema: expected, isExact: false });
  });

  it('processes every nested schema', () => {
    const inner = { $schema: 'x', type: 'string' };
    const { schema } = restrictSchema({
      properties: { a: inner },
      $defs: { b: inner },
      items: inner,
      additionalProperties: inner,
      oneOf: [inner],
      anyOf: [inner],
      prefixItems: [inner],
    });
    expect(JSON.stringify(schema)).not.toContain('$schema');
    expect(JSON.stringify(schema).match(/"type":"string"/g)).toHaveLength(7);
  });

  it('handles a property named __proto__', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"const":"x"}}}') as JsonObject;
    expect(JSON.stringify(restrictSchema(schema).schema)).toBe(
      '{"properties":{"__proto__":{"enum":["x"]}}}',
    );
  });

  it('does not change the given schema', () => {
    const schema = { $schema: 'x', properties: { a: { const: 1 } } };
    const before = structuredClone(schema);
    restrictSchema(schema);
    expect(schema).toEqual(before);
  });
});
