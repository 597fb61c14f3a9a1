import {
  modelFieldsSchema,
  routingFieldsSchema,
  sessionFieldSchema,
  traceFieldSchema,
} from '../../canonical/routing-fields.js';
import type { BodyOf } from '../../platform/http/validate-body.js';

/**
 * JSON Schema of the request body, used both for validation (ajv) and for OpenAPI. Unknown fields
 * are allowed and forwarded to vendors of this dialect. Several SDKs send `null` for "not set".
 */
export const chatCompletionSchema = {
  title: 'ChatCompletionRequest',
  type: 'object',
  properties: {
    ...modelFieldsSchema,
    messages: {
      type: ['array', 'null'],
      description: 'The conversation; `content` is a string or an array of content parts.',
      items: {
        title: 'ChatMessage',
        type: 'object',
        required: ['role'],
        properties: {
          role: {
            type: 'string',
            enum: ['system', 'developer', 'user', 'assistant', 'tool', 'function'],
          },
          content: { type: ['string', 'array', 'null'], items: { type: 'object' } },
          name: { type: ['string', 'null'] },
          tool_calls: { type: ['array', 'null'], items: { type: 'object' } },
          tool_call_id: { type: ['string', 'null'] },
        },
      },
    },
    input: {
      type: ['string', 'array', 'null'],
      items: { type: 'object' },
      description: 'Responses-style input instead of `messages`.',
    },
    stream: { type: ['boolean', 'null'], default: false },
    stream_options: {
      type: ['object', 'null'],
      properties: {
        include_usage: {
          type: ['boolean', 'null'],
          description: 'Send a final chunk with the usage before `[DONE]`.',
        },
      },
    },
    temperature: { type: ['number', 'null'], description: 'Typically 0 to 2.' },
    top_p: { type: ['number', 'null'], description: 'Typically 0 to 1.' },
    n: { type: ['integer', 'null'], minimum: 1, maximum: 128 },
    max_tokens: { type: ['integer', 'null'], minimum: 1, maximum: 2_147_483_647 },
    max_completion_tokens: { type: ['integer', 'null'], minimum: 1, maximum: 2_147_483_647 },
    tools: {
      type: ['array', 'null'],
      items: {
        title: 'ChatTool',
        type: 'object',
        required: ['type'],
        properties: {
          type: { type: 'string' },
          function: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string', minLength: 1 },
              description: { type: ['string', 'null'] },
              parameters: { type: ['object', 'null'] },
              strict: { type: ['boolean', 'null'] },
            },
          },
        },
      },
    },
    tool_choice: {
      type: ['string', 'object', 'null'],
      properties: {
        function: {
          type: ['object', 'null'],
          required: ['name'],
          properties: { name: { type: 'string' } },
        },
      },
    },
    parallel_tool_calls: { type: ['boolean', 'null'] },
    response_format: {
      type: ['object', 'null'],
      required: ['type'],
      properties: { type: { type: 'string' }, json_schema: { type: ['object', 'null'] } },
    },
    reasoning: {
      type: ['object', 'null'],
      properties: {
        effort: { type: ['string', 'null'] },
        max_tokens: { type: ['integer', 'null'], minimum: 0 },
      },
    },
    reasoning_effort: { type: ['string', 'null'] },
    logprobs: { type: ['boolean', 'null'] },
    top_logprobs: { type: ['integer', 'null'], minimum: 0, maximum: 20 },
    logit_bias: { type: ['object', 'null'], additionalProperties: { type: 'number' } },
    stop: { type: ['string', 'array', 'null'], maxItems: 16, items: { type: 'string' } },
    frequency_penalty: { type: ['number', 'null'] },
    presence_penalty: { type: ['number', 'null'] },
    seed: { type: ['integer', 'null'] },
    user: { type: ['string', 'null'], description: 'End-user identifier.' },
    safety_identifier: {
      type: ['string', 'null'],
      description: 'End-user identifier; takes precedence over `user`.',
    },
    metadata: { type: ['object', 'null'] },
    trace: traceFieldSchema,
    ...routingFieldsSchema,
    session_id: sessionFieldSchema,
  },
} as const;

/** A validated body. */
export type ChatBody = BodyOf<typeof chatCompletionSchema>;
export type ChatMessage = NonNullable<ChatBody['messages']>[number];
export type ChatTool = NonNullable<ChatBody['tools']>[number];

const string = { type: 'string' } as const;

/**
 * JSON Schemas of known content parts by type, and of tool calls, checked while the prompt is
 * measured. Vendors validate unknown types.
 */
export const chatPartSchemas = {
  text: { type: 'object', required: ['text'], properties: { text: string } },
  refusal: { type: 'object', required: ['refusal'], properties: { refusal: string } },
  image_url: {
    type: 'object',
    required: ['image_url'],
    properties: {
      image_url: { type: ['object', 'string'], required: ['url'], properties: { url: string } },
    },
  },
  input_audio: {
    type: 'object',
    required: ['input_audio'],
    properties: {
      input_audio: {
        type: 'object',
        required: ['data', 'format'],
        properties: { data: string, format: string },
      },
    },
  },
  file: {
    type: 'object',
    required: ['file'],
    properties: {
      file: {
        type: 'object',
        required: ['file_data'],
        properties: { file_data: string },
      },
    },
  },
} as const;

export const toolCallSchema = {
  type: 'object',
  required: ['id', 'function'],
  properties: {
    id: string,
    function: {
      type: 'object',
      required: ['name', 'arguments'],
      properties: { name: string, arguments: string },
    },
  },
} as const;

export const customToolCallSchema = {
  type: 'object',
  required: ['id', 'custom'],
  properties: {
    id: string,
    custom: {
      type: 'object',
      required: ['name', 'input'],
      properties: { name: string, input: string },
    },
  },
} as const;
