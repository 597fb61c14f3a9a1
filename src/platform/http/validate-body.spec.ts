import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { assertPart, assertValid, compileSchema } from './validate-body.js';

const validate = compileSchema({
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 3, pattern: '^[a-z]*$', example: 'abc' },
    count: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    ratio: { type: 'number' },
    kind: { enum: ['a', 'b', null] },
    either: { type: ['string', 'array', 'null'], items: { type: 'object' }, maxItems: 2 },
    map: { type: 'object', additionalProperties: { type: 'number' } },
    list: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', required: ['id'], properties: { id: { type: 'boolean' } } },
    },
  },
});

describe(assertValid.name, () => {
  it.each([
    { name: 'abc' },
    { name: 'a', count: null, kind: null, either: null },
    {
      name: 'a',
      count: 5,
      ratio: 0.5,
      kind: 'b',
      either: [{}],
      map: { x: 1 },
      list: [{ id: true }],
    },
  ])('accepts %j', (body) => {
    expect(() => assertValid(validate, body)).not.toThrow();
  });

  it.each<[unknown, string, string]>([
    [{}, 'name', '`name` is required.'],
    [{ name: 1 }, 'name', '`name` must be a string.'],
    [{ name: '' }, 'name', '`name` must NOT have fewer than 1 characters.'],
    [{ name: 'abcd' }, 'name', '`name` must NOT have more than 3 characters.'],
    [{ name: 'A' }, 'name', '`name` must match pattern "^[a-z]*$".'],
    [{ name: 'a', count: '1' }, 'count', '`count` must be an integer.'],
    [{ name: 'a', count: 1.5 }, 'count', '`count` must be an integer.'],
    [{ name: 'a', count: 0 }, 'count', '`count` must be >= 1.'],
    [{ name: 'a', count: 6 }, 'count', '`count` must be <= 5.'],
    [{ name: 'a', ratio: '0.5' }, 'ratio', '`ratio` must be a number.'],
    [{ name: 'a', ratio: Infinity }, 'ratio', '`ratio` must be a number.'],
    [{ name: 'a', count: Infinity }, 'count', '`count` must be an integer.'],
    [{ name: 'a', kind: 'c' }, 'kind', '`kind` must be one of "a", "b".'],
    [{ name: 'a', either: 1 }, 'either', '`either` must be a string or an array.'],
    [{ name: 'a', either: ['x'] }, 'either.0', '`either.0` must be an object.'],
    [{ name: 'a', either: [{}, {}, {}] }, 'either', '`either` must NOT have more than 2 items.'],
    [{ name: 'a', map: { 'x/y~z': '1' } }, 'map.x/y~z', '`map.x/y~z` must be a number.'],
    [{ name: 'a', list: [] }, 'list', '`list` must NOT have fewer than 1 items.'],
    [{ name: 'a', list: [{ id: true }, {}] }, 'list.1.id', '`list.1.id` is required.'],
    [{ name: 'a', list: [{ id: 0 }] }, 'list.0.id', '`list.0.id` must be a boolean.'],
    [[], 'body', '`body` must be an object.'],
    [null, 'body', '`body` must be an object.'],
  ])('rejects %j and names %s', (body, param, message) => {
    expect(() => assertValid(validate, body)).toThrow(
      expect.objectContaining({ status: 400, type: 'invalid_request_error', param, message }),
    );
  });

  it('names an unknown field', () => {
    expect(() => assertValid(validate, { name: 'a', other: 1 })).toThrow(
      expect.objectContaining({ param: 'other' }),
    );
  });

  it('truncates very long keys', () => {
    const body = { name: 'a', map: { ['k'.repeat(10_000)]: 'x' } };
    expect(() => assertValid(validate, body)).toThrow(InvalidRequestError);
    expect(() => assertValid(validate, body)).toThrow(
      expect.objectContaining({ param: `map.${'k'.repeat(100)}` }),
    );
  });
});

describe(assertPart.name, () => {
  const isPart = compileSchema({
    type: 'object',
    required: ['text', 'image'],
    properties: {
      text: { type: 'string' },
      image: {
        type: ['object', 'string'],
        required: ['url'],
        properties: { url: { type: 'string' } },
      },
      flag: { type: ['boolean', 'null'] },
      list: {
        type: 'array',
        items: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
      },
    },
  } as const);
  const whole = { text: 'x', image: 'https://a.b' };

  it.each([whole, { ...whole, image: { url: '' }, flag: null, list: [{ id: '' }], other: 1 }])(
    'accepts %j',
    (part) => {
      expect(() => assertPart(isPart, part, 'a.0')).not.toThrow();
    },
  );

  it.each<[object, string, string]>([
    [{ ...whole, text: undefined }, 'a.0.text', 'a string'],
    [{ image: '' }, 'a.0.text', 'a string'],
    [{ text: '' }, 'a.0.image.url', 'a string'],
    [{ ...whole, image: 1 }, 'a.0.image.url', 'a string'],
    [{ ...whole, image: {} }, 'a.0.image.url', 'a string'],
    [{ ...whole, flag: 'yes' }, 'a.0.flag', 'a boolean'],
    [{ ...whole, list: {} }, 'a.0.list', 'an array'],
    [{ ...whole, list: [1] }, 'a.0.list.0.id', 'a string'],
    [{ ...whole, list: [{ id: '' }, {}] }, 'a.0.list.1.id', 'a string'],
  ])('rejects %j and names %s', (part, param, wanted) => {
    expect(() => assertPart(isPart, part, 'a.0')).toThrow(
      expect.objectContaining({ status: 400, param, message: `\`${param}\` must be ${wanted}.` }),
    );
  });
});
