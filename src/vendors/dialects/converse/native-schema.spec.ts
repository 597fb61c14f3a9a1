import { describe, expect, it } from '@jest/globals';
import { toNativeSchema } from './native-schema.js';

describe(toNativeSchema.name, () => {
  it('closes objects at every depth and leaves the rest unchanged', () => {
    const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    expect(
      toNativeSchema({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        description: 'A team',
        properties: {
          lead: { $ref: '#/$defs/person' },
          size: { type: ['integer', 'null'], enum: [1, 2, null] },
          members: { type: 'array', items: person, minItems: 1 },
          founded: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
        },
        required: ['lead'],
        additionalProperties: false,
        $defs: { person },
      }),
    ).toEqual({
      type: 'object',
      description: 'A team',
      properties: {
        lead: { $ref: '#/$defs/person' },
        size: { type: ['integer', 'null'], enum: [1, 2, null] },
        members: { type: 'array', items: { ...person, additionalProperties: false }, minItems: 1 },
        founded: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
      },
      required: ['lead'],
      additionalProperties: false,
      $defs: { person: { ...person, additionalProperties: false } },
    });
  });

  it('moves unsupported constraints into descriptions', () => {
    expect(
      toNativeSchema({
        type: 'object',
        properties: {
          age: { type: 'integer', minimum: 0, maximum: 150, description: 'In years' },
          tags: { type: 'array', items: { type: 'string', pattern: '^a' }, maxItems: 3 },
          color: { type: 'string', format: 'color' },
        },
      }),
    ).toMatchObject({
      properties: {
        age: {
          type: 'integer',
          description: 'In years\n\nConstraints: {"minimum":0,"maximum":150}',
        },
        tags: {
          type: 'array',
          items: { type: 'string', description: 'Constraints: {"pattern":"^a"}' },
          description: 'Constraints: {"maxItems":3}',
        },
        color: { type: 'string', description: 'Constraints: {"format":"color"}' },
      },
    });
  });

  it.each([
    ['open', { type: 'object', additionalProperties: true }],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['without a type', {}],
    ['open at some depth', { type: 'array', items: { type: 'object', additionalProperties: {} } }],
    ['without a type at some depth', { type: 'object', properties: { anything: {} } }],
    ['with a boolean property', { type: 'object', properties: { anything: true } }],
    ['with a list of properties', { type: 'object', properties: ['a'] }],
    ['with alternatives of another type', { anyOf: { type: 'string' } }],
  ])('returns undefined for a schema that is %s', (_what, schema) => {
    expect(toNativeSchema(schema)).toBeUndefined();
  });
});
