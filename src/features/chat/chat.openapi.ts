import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import {
  ApiCacheHeader,
  ApiGenerationErrors,
  ApiTraceHeaders,
  GENERATION_HEADERS,
} from '../../core/answers/generation.openapi.js';
import { chatChunkSchema } from './chat-chunk.schema.js';
import { chatCompletionSchema } from './chat-completion.schema.js';

type Schema = NonNullable<Extract<Parameters<typeof ApiBody>[0], { schema: object }>['schema']>;

const usage = {
  type: 'object',
  properties: {
    prompt_tokens: { type: 'integer' },
    completion_tokens: { type: 'integer' },
    total_tokens: { type: 'integer' },
  },
};

const completion = {
  type: 'object',
  required: ['id', 'object', 'created', 'model', 'choices', 'usage'],
  properties: {
    id: { type: 'string' },
    object: { type: 'string', enum: ['chat.completion'] },
    created: { type: 'integer', description: 'Unix seconds.' },
    model: { type: 'string', description: 'The alias that answered.' },
    choices: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          index: { type: 'integer' },
          message: {
            type: 'object',
            properties: {
              role: { type: 'string', enum: ['assistant'] },
              content: { type: 'string', nullable: true },
              refusal: { type: 'string', nullable: true },
              tool_calls: { type: 'array', items: { type: 'object' } },
            },
          },
          logprobs: { type: 'object', nullable: true },
          finish_reason: {
            type: 'string',
            nullable: true,
            example: 'stop',
            description: '`stop`, `length`, `tool_calls`, `content_filter`, or a vendor’s own.',
          },
        },
      },
    },
    usage,
  },
} satisfies Schema;

/** The OpenAPI description of a chat completion, with the schema that also checks it. */
export function ApiChatCompletion(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      summary: 'Create a chat completion',
      description:
        'Takes OpenAI-style bodies. `models` is a chain of fallbacks; `stream: true` answers with server-sent events that end in `data: [DONE]`.',
    }),
    ApiBody({
      schema: toOpenApiSchema(chatCompletionSchema),
      examples: {
        sandbox: {
          summary: 'A first call, answered without any vendor',
          value: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] },
        },
        stream: {
          summary: 'Streamed, with fallback',
          value: {
            models: ['sandbox/fault-500', 'sandbox/words'],
            messages: [{ role: 'user', content: '20 words, please' }],
            stream: true,
            stream_options: { include_usage: true },
          },
        },
      },
    }),
    ApiOkResponse({
      description: 'The completion, or its stream of chunks.',
      headers: GENERATION_HEADERS,
      content: {
        'application/json': { schema: completion },
        'text/event-stream': { schema: toOpenApiSchema(chatChunkSchema) },
      },
    }),
    ApiCacheHeader(),
    ApiTraceHeaders(),
    ApiGenerationErrors(),
  );
}
