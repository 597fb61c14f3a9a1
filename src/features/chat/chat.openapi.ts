import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { toOpenApiSchema, type OpenApiSchema } from '../../platform/http/validate-body.js';
import { ApiGeneration, GENERATION_HEADERS } from '../../core/answers/generation.openapi.js';
import { chatCompletionSchema } from './chat-completion.schema.js';
import { completionSchema } from './completions.parse.js';
import { errorDetailSchema } from '../../platform/errors/error-response.js';

const toolCallDelta = {
  title: 'ChatToolCallDelta',
  type: 'object',
  required: ['index'],
  properties: {
    index: { type: 'integer', description: 'Index of the call in the answer.' },
    id: { type: 'string', description: 'Only in the first fragment.' },
    type: { type: 'string', description: 'Only in the first fragment.' },
    function: {
      type: 'object',
      properties: {
        name: { type: ['string', 'null'] },
        arguments: { type: 'string', description: 'Fragment of the JSON.' },
      },
    },
  },
} as const;

const choice = {
  title: 'ChatCompletionChunkChoice',
  type: 'object',
  required: ['index', 'delta'],
  properties: {
    index: { type: 'integer' },
    delta: {
      type: 'object',
      properties: {
        role: { type: ['string', 'null'], enum: ['assistant', null] },
        content: { type: ['string', 'null'], description: 'Fragment of the text.' },
        refusal: { type: ['string', 'null'] },
        reasoning_content: { type: ['string', 'null'] },
        reasoning_details: { type: ['array', 'null'], items: { type: 'object' } },
        tool_calls: { type: ['array', 'null'], items: toolCallDelta },
      },
    },
    logprobs: { type: ['object', 'null'] },
    finish_reason: {
      type: ['string', 'null'],
      description:
        '`stop`, `length`, `tool_calls`, `content_filter`, a vendor-specific reason, or `error` next to `error`.',
    },
  },
} as const;

/** JSON Schema of a stream event's data. The last event is `[DONE]`. */
const chatChunkSchema = {
  title: 'ChatCompletionChunk',
  type: 'object',
  required: ['id', 'object', 'created', 'model', 'choices'],
  description:
    'The `data` of an event. The stream ends with `data: [DONE]`. Comments keep it alive.',
  properties: {
    id: { type: 'string' },
    object: { type: 'string', enum: ['chat.completion.chunk'] },
    created: { type: 'integer', description: 'Unix seconds.' },
    model: { type: 'string', description: 'Alias of the answering model.' },
    choices: {
      type: 'array',
      items: choice,
      description: 'Empty in the usage chunk.',
    },
    usage: {
      type: 'object',
      required: ['prompt_tokens', 'completion_tokens', 'total_tokens'],
      properties: {
        prompt_tokens: { type: 'integer' },
        completion_tokens: { type: 'integer' },
        total_tokens: { type: 'integer' },
      },
      description: 'With `stream_options.include_usage`.',
    },
    error: errorDetailSchema,
  },
  example: {
    id: 'chatcmpl-…',
    object: 'chat.completion.chunk',
    created: 1763700000,
    model: 'sandbox/echo',
    choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }],
  },
} as const;

const usage = {
  title: 'ChatUsage',
  type: 'object',
  required: ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  properties: {
    prompt_tokens: { type: 'integer' },
    completion_tokens: { type: 'integer' },
    total_tokens: { type: 'integer' },
  },
};

const completion = {
  title: 'ChatCompletion',
  type: 'object',
  required: ['id', 'object', 'created', 'model', 'choices', 'usage'],
  properties: {
    id: { type: 'string' },
    object: { type: 'string', enum: ['chat.completion'] },
    created: { type: 'integer', description: 'Unix seconds.' },
    model: { type: 'string', description: 'Alias of the model that answered.' },
    choices: {
      type: 'array',
      items: {
        title: 'ChatCompletionChoice',
        type: 'object',
        required: ['index', 'message', 'finish_reason'],
        properties: {
          index: { type: 'integer' },
          message: {
            title: 'ChatCompletionMessage',
            type: 'object',
            required: ['role'],
            properties: {
              role: { type: 'string', enum: ['assistant'] },
              content: { type: ['string', 'null'] },
              refusal: { type: ['string', 'null'] },
              tool_calls: { type: 'array', items: { type: 'object' } },
            },
          },
          logprobs: { type: ['object', 'null'] },
          finish_reason: {
            type: ['string', 'null'],
            example: 'stop',
            description:
              '`stop`, `length`, `tool_calls`, `content_filter`, or a vendor-specific reason.',
          },
        },
      },
    },
    usage,
  },
} satisfies OpenApiSchema;

/** The description of `messages`, whose length the code checks itself. */
const properties = {
  ...chatCompletionSchema.properties,
  messages: { ...chatCompletionSchema.properties.messages, minItems: 1 },
};

/** OpenAPI description of a chat completion, with the schema that also validates it. */
export function ApiChatCompletion(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createChatCompletion',
      summary: 'Create a chat completion',
      description:
        'Accepts OpenAI-style bodies. `models` is a fallback chain. `stream: true` returns server-sent events that end with `data: [DONE]`.',
    }),
    ApiBody({
      schema: toOpenApiSchema({ ...chatCompletionSchema, properties }),
      examples: {
        sandbox: {
          summary: 'A first call to the sandbox, without a vendor',
          value: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] },
        },
        stream: {
          summary: 'Streaming with a fallback',
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
      description: 'The completion, or its chunk stream.',
      headers: GENERATION_HEADERS,
      content: {
        'application/json': { schema: completion },
        'text/event-stream': { schema: toOpenApiSchema(chatChunkSchema) },
      },
    }),
    ApiGeneration(),
  );
}

const textCompletion = {
  title: 'Completion',
  type: 'object',
  required: ['id', 'object', 'created', 'model', 'choices'],
  properties: {
    id: { type: 'string' },
    object: { type: 'string', enum: ['text_completion'] },
    created: { type: 'integer', description: 'Unix seconds.' },
    model: { type: 'string', description: 'Alias of the model that answered.' },
    choices: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          text: { type: 'string' },
          index: { type: 'integer' },
          logprobs: { type: 'object', nullable: true },
          finish_reason: { type: 'string', nullable: true, example: 'stop' },
        },
      },
    },
    usage,
  },
} satisfies OpenApiSchema;

/** Token arrays are rejected with a specific message that a schema cannot express. */
const describedCompletion = {
  ...completionSchema,
  properties: {
    ...completionSchema.properties,
    prompt: { ...completionSchema.properties.prompt, items: { type: 'string' } },
  },
};

/** OpenAPI description of a legacy completion, with the schema that also validates it. */
export function ApiCompletion(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createCompletion',
      summary: 'Complete a text (legacy)',
      description:
        'Sends the prompt to any chat model as a user message. New programs should use `/v1/chat/completions`.',
    }),
    ApiBody({
      schema: toOpenApiSchema(describedCompletion),
      examples: {
        sandbox: {
          summary: 'A first call to the sandbox, without a vendor',
          value: { model: 'sandbox/echo', prompt: 'Hello!', max_tokens: 100 },
        },
      },
    }),
    ApiOkResponse({
      description: 'The completion, or chunks of the same shape that end with `data: [DONE]`.',
      headers: GENERATION_HEADERS,
      content: {
        'application/json': { schema: textCompletion },
        'text/event-stream': { schema: textCompletion },
      },
    }),
    ApiGeneration(),
  );
}
