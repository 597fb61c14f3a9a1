import { describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { nameSchemas } from './openapi-schemas.js';

/** Returns a document with these component schemas and one operation per response schema. */
function documentOf(answers: object[], schemas: Record<string, object> = {}): OpenAPIObject {
  const operations = answers.map((schema, index) => [
    `/${index}`,
    { get: { responses: { 200: { content: { 'application/json': { schema } } } } } },
  ]);
  const document: object = {
    openapi: '3.1.0',
    info: { title: 'The API', version: '1' },
    paths: Object.fromEntries(operations) as object,
    components: { schemas },
  };
  return document as OpenAPIObject;
}

/** Returns the converted response schema and all components. */
function named(answer: object, schemas?: Record<string, object>): { schema: object; all: object } {
  const document = nameSchemas(documentOf([answer], schemas));
  const responses = document.paths['/0']!.get!.responses as Record<
    string,
    { content: Record<string, { schema: object }> }
  >;
  return {
    schema: responses['200']!.content['application/json']!.schema,
    all: document.components!.schemas!,
  };
}

describe(nameSchemas.name, () => {
  it.each<[string, object, object]>([
    ['JSON Schema', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    ['a type or null', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      'some values or null',
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'one value of a boolean, or null',
      { type: ['boolean', 'null'], enum: [false, null], description: 'd' },
      { description: 'd', anyOf: [{ type: 'boolean', const: false }, { type: 'null' }] },
    ],
    [
      'a class or null',
      { description: 'd', nullable: true, allOf: [{ $ref: '#/components/schemas/JobDto' }] },
      { description: 'd', anyOf: [{ $ref: '#/components/schemas/Job' }, { type: 'null' }] },
    ],
    [
      'nested objects, which allow further fields',
      { type: 'object', properties: { a: { items: { type: 'integer', nullable: true } } } },
      {
        type: 'object',
        properties: { a: { items: { type: ['integer', 'null'] } } },
        additionalProperties: true,
      },
    ],
    [
      'field defaults, as part of the description',
      { properties: { a: { default: 1 }, b: { default: 'x', description: 'Of b.' } } },
      {
        properties: {
          a: { description: 'Default: `1`.' },
          b: { description: 'Of b. Default: `"x"`.' },
        },
      },
    ],
    ['defaults of parameters', { type: 'integer', default: 1 }, { type: 'integer', default: 1 }],
    [
      'fields named like schema keywords',
      {
        properties: { title: { type: 'string' }, nullable: { type: 'boolean' }, properties: {} },
        example: { title: 'A', nullable: true },
      },
      {
        properties: { title: { type: 'string' }, nullable: { type: 'boolean' }, properties: {} },
        example: { title: 'A', nullable: true },
      },
    ],
  ])('converts %s', (_name, schema, expected) => {
    expect(named(schema).schema).toEqual(expected);
  });

  it('moves titled schemas to the components, nested ones too', () => {
    const tool = { title: 'Tool', type: 'object' };
    const { schema, all } = named({ title: 'Request', properties: { tools: { items: tool } } });
    expect(schema).toEqual({ $ref: '#/components/schemas/Request' });
    expect(all).toEqual({
      Request: { properties: { tools: { items: { $ref: '#/components/schemas/Tool' } } } },
      Tool: { type: 'object', additionalProperties: true },
    });
  });

  it('removes the Dto suffix of class names', () => {
    const { schema, all } = named({ $ref: '#/components/schemas/JobDto' }, { JobDto: {} });
    expect(schema).toEqual({ $ref: '#/components/schemas/Job' });
    expect(Object.keys(all)).toEqual(['Job']);
  });

  it('declares that body classes allow no further fields', () => {
    const one = { type: 'object', properties: { name: { type: 'string' } } };
    const document = documentOf([{}], { CreateDto: one, MadeDto: one, MapDto: { type: 'object' } });
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/CreateDto' } } };
    document.paths['/0']!.post = { requestBody: { content }, responses: {} };
    expect(nameSchemas(document).components!.schemas).toEqual({
      Create: { ...one, additionalProperties: false },
      Made: one,
      Map: { type: 'object', additionalProperties: true },
    });
  });

  it('allows repeated use of a schema but refuses two schemas with one name', () => {
    const tool = { title: 'Tool', type: 'object' };
    expect(Object.keys(nameSchemas(documentOf([tool, tool])).components!.schemas!)).toEqual([
      'Tool',
    ]);
    const other = { title: 'Tool', type: 'string' };
    expect(() => nameSchemas(documentOf([tool, other]))).toThrow('have the name Tool');
  });
});
