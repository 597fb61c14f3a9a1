import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import { ApiGeneration, GENERATION_HEADERS } from '../../core/answers/generation.openapi.js';
import { countTokensSchema, messagesSchema } from './messages.schema.js';
import {
  ApiErrorResponse,
  errorDetailSchema,
  MESSAGES_ERROR_TYPES,
} from '../../platform/errors/error-response.js';

/** A stream error in the dialect's terms. */
const messagesErrorSchema = {
  ...errorDetailSchema,
  title: 'MessagesStreamError',
  properties: {
    ...errorDetailSchema.properties,
    type: { type: 'string', enum: MESSAGES_ERROR_TYPES },
  },
} as const;

const block = {
  title: 'StartedContentBlock',
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', description: '`text`, `thinking`, `redacted_thinking`, `tool_use`.' },
  },
} as const;

const delta = {
  title: 'ContentBlockDelta',
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      description: '`text_delta`, `thinking_delta`, `signature_delta`, `input_json_delta`.',
    },
    text: { type: 'string' },
    thinking: { type: 'string' },
    signature: { type: 'string' },
    partial_json: { type: 'string', description: 'Fragment of the input’s JSON.' },
  },
} as const;

const usage = {
  title: 'MessageDeltaUsage',
  type: 'object',
  required: ['output_tokens'],
  properties: {
    input_tokens: { type: ['integer', 'null'] },
    cache_creation_input_tokens: { type: ['integer', 'null'] },
    cache_read_input_tokens: { type: ['integer', 'null'] },
    output_tokens: { type: 'integer' },
  },
} as const;

const index = { type: 'integer', description: 'Index of the block in the message.' } as const;

const HELLO = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] };

const message = {
  title: 'Message',
  type: 'object',
  required: ['id', 'type', 'role', 'content', 'model', 'stop_reason', 'usage'],
  properties: {
    id: { type: 'string', example: 'msg_0f8fad5bd9cb469fa16570867728950e' },
    type: { type: 'string', enum: ['message'] },
    role: { type: 'string', enum: ['assistant'] },
    content: {
      type: 'array',
      description: 'Blocks of type `thinking`, `redacted_thinking`, `text` and `tool_use`.',
      items: {
        title: 'AnsweredContentBlock',
        type: 'object',
        required: ['type'],
        properties: {
          type: { type: 'string', example: 'text' },
          text: { type: 'string', example: 'Sandbox echo: Hello!' },
        },
        additionalProperties: true,
      },
    },
    model: { type: 'string', description: 'Alias of the model that answered.' },
    stop_reason: {
      type: ['string', 'null'],
      example: 'end_turn',
      description:
        '`end_turn`, `max_tokens`, `stop_sequence`, `tool_use`, `refusal`, or a vendor-specific reason.',
    },
    stop_sequence: { type: ['string', 'null'] },
    usage: {
      title: 'MessageUsage',
      type: 'object',
      required: ['input_tokens', 'output_tokens'],
      properties: {
        input_tokens: { type: 'integer', description: 'Excludes cached tokens.' },
        cache_creation_input_tokens: { type: 'integer' },
        cache_read_input_tokens: { type: 'integer' },
        output_tokens: { type: 'integer' },
      },
    },
  },
} as const;

/** OpenAPI description of a message, with the schema that also validates it. */
export function ApiCreateMessage(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createMessage',
      summary: 'Create a message',
      description:
        'Accepts bodies of the messages API. `models` is a fallback chain. `stream: true` returns server-sent events from `message_start` to `message_stop`.',
    }),
    ApiBody({
      schema: toOpenApiSchema({ ...messagesSchema, required: ['messages', 'max_tokens'] }),
      examples: {
        sandbox: {
          summary: 'A first call to the sandbox, without a vendor',
          value: { ...HELLO, max_tokens: 1024 },
        },
        stream: {
          summary: 'Streaming with a fallback',
          value: {
            models: ['sandbox/fault-500', 'sandbox/words'],
            messages: [{ role: 'user', content: '20 words, please' }],
            max_tokens: 1024,
            stream: true,
          },
        },
      },
    }),
    ApiOkResponse({
      description: 'The message, or its event stream.',
      headers: GENERATION_HEADERS,
      content: {
        'application/json': { schema: toOpenApiSchema(message) },
        'text/event-stream': { schema: toOpenApiSchema(messageEventSchema(message)) },
      },
    }),
    ApiGeneration(),
  );
}

/** OpenAPI description of token counting. */
export function ApiCountTokens(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'countMessageTokens',
      summary: 'Count the tokens of a prompt',
      description:
        "Uses the first route's vendor, which `X-Gateway-Provider` then names, or an estimate of characters ÷ 4. Free of charge.",
    }),
    ApiBody({
      schema: toOpenApiSchema({ ...countTokensSchema, required: ['messages'] }),
      examples: { sandbox: { summary: 'An estimate', value: HELLO } },
    }),
    ApiOkResponse({
      description: 'The number of input tokens.',
      schema: {
        title: 'TokenCount',
        type: 'object',
        required: ['input_tokens'],
        properties: { input_tokens: { type: 'integer', example: 2 } },
      },
    }),
    ApiErrorResponse(400, 'The body is invalid. `param` names the field.'),
    ApiErrorResponse(404, 'The model is unknown, or routing preferences exclude all providers.'),
    ApiErrorResponse(413, 'The body is larger than 20 MB.'),
    ApiErrorResponse(415, 'The body is not JSON.'),
    ApiErrorResponse(503, 'No provider of the model is configured.'),
  );
}

const pascalCase = (words: string): string =>
  words.replace(/(?:^|_)(.)/g, (_match, letter: string) => letter.toUpperCase());

function event(type: string, members: Readonly<Record<string, object>>): object {
  return {
    title: `${pascalCase(type)}Event`,
    type: 'object',
    required: ['type', ...Object.keys(members)],
    properties: { type: { type: 'string', enum: [type] }, ...members },
  };
}

/** @param message JSON Schema of a whole message. */
function messageEventSchema(message: object): object {
  return {
    title: 'MessageStreamEvent',
    description: 'The `data` of an event, whose name is its `type`.',
    oneOf: [
      event('message_start', { message }),
      event('content_block_start', { index, content_block: block }),
      event('content_block_delta', { index, delta }),
      event('content_block_stop', { index }),
      event('message_delta', {
        delta: {
          type: 'object',
          required: ['stop_reason'],
          properties: {
            stop_reason: { type: ['string', 'null'] },
            stop_sequence: { type: ['string', 'null'] },
          },
        },
        usage,
      }),
      event('message_stop', {}),
      event('ping', {}),
      event('error', { error: messagesErrorSchema }),
    ],
    example: {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'Hello' },
    },
  };
}
