import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { toOpenApiSchema, type OpenApiSchema } from '../../platform/http/validate-body.js';
import {
  ApiCacheHeader,
  ApiGenerationErrors,
  ApiWorkHeaders,
  GENERATION_HEADERS,
} from '../../core/answers/generation.openapi.js';
import { createEmbeddingsSchema } from './embeddings.parse.js';

const list = {
  title: 'EmbeddingList',
  type: 'object',
  required: ['object', 'data', 'model', 'usage'],
  properties: {
    object: { type: 'string', enum: ['list'] },
    data: {
      type: 'array',
      description: 'One vector per item, in order.',
      items: {
        title: 'EmbeddingItem',
        type: 'object',
        required: ['object', 'index', 'embedding'],
        properties: {
          object: { type: 'string', enum: ['embedding'] },
          index: { type: 'integer' },
          embedding: {
            oneOf: [{ type: 'array', items: { type: 'number' } }, { type: 'string' }],
            description: 'Numbers, or a string with `encoding_format: base64`.',
          },
        },
      },
    },
    model: { type: 'string', description: 'Alias of the model that answered.' },
    usage: {
      type: 'object',
      required: ['prompt_tokens', 'total_tokens'],
      properties: { prompt_tokens: { type: 'integer' }, total_tokens: { type: 'integer' } },
    },
  },
} satisfies OpenApiSchema;

const text = { type: 'string', minLength: 1 };

const tokens = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } };

/** Describes `input`, whose items the parser validates. */
const properties = {
  ...createEmbeddingsSchema.properties,
  input: {
    description: createEmbeddingsSchema.properties.input.description,
    anyOf: [
      text,
      { type: 'array', minItems: 1, maxItems: 2_048, items: text },
      tokens,
      { type: 'array', minItems: 1, maxItems: 2_048, items: tokens },
    ],
  },
};

/** OpenAPI description of embeddings, with the schema that also validates them. */
export function ApiCreateEmbeddings(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createEmbeddings',
      summary: 'Create embeddings',
      description:
        'Returns one vector per text, in order. Falls back only to providers of the same model, since vectors of different models are not comparable.',
    }),
    ApiBody({
      schema: toOpenApiSchema({ ...createEmbeddingsSchema, properties }),
      examples: {
        sandbox: {
          summary: 'Embed two texts with the sandbox, without a vendor',
          value: { model: 'sandbox/embed', input: ['a red apple', 'a green apple'] },
        },
        base64: {
          summary: 'Short vectors, as base64',
          value: {
            model: 'sandbox/embed',
            input: 'Hello!',
            dimensions: 8,
            encoding_format: 'base64',
          },
        },
      },
    }),
    ApiOkResponse({
      description: 'The vectors.',
      headers: GENERATION_HEADERS,
      content: { 'application/json': { schema: list } },
    }),
    ApiCacheHeader(),
    ApiWorkHeaders(),
    ApiGenerationErrors(),
  );
}
