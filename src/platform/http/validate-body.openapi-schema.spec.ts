import { describe, expect, it } from '@jest/globals';
import { toOpenApiSchema } from './validate-body.js';

describe(toOpenApiSchema.name, () => {
  it.each<[string, object, object]>([
    ['one type', { type: 'string', maxLength: 5 }, { type: 'string', maxLength: 5 }],
    ['a type or null', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
    [
      'several types',
      { type: ['string', 'array'], items: { type: ['object', 'null'] }, description: 'd' },
      {
        description: 'd',
        oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object', nullable: true } }],
      },
    ],
    [
      'several types or null',
      { type: ['string', 'object', 'null'] },
      { nullable: true, oneOf: [{ type: 'string' }, { type: 'object' }] },
    ],
    [
      'a member called type',
      { type: 'object', properties: { type: { type: ['string', 'null'] } } },
      { type: 'object', properties: { type: { type: 'string', nullable: true } } },
    ],
  ])('spells %s', (_name, schema, expected) => {
    expect(toOpenApiSchema(schema)).toEqual(expected);
  });
});
