import {
  modelFieldsSchema,
  routingFieldsSchema,
  sessionFieldSchema,
  traceFieldSchema,
} from '../../canonical/routing-fields.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { BodyOf } from '../../platform/http/validate-body.js';

const MAX_TOKENS = 2_147_483_647;
const text = { type: ['string', 'null'] } as const;
const flag = { type: ['boolean', 'null'] } as const;
const object = { type: ['object', 'null'] } as const;

/**
 * JSON Schema of the request body, used both for validation (ajv) and for OpenAPI. Unknown fields
 * are allowed and forwarded to vendors of this dialect. Several SDKs send `null` for "not set".
 */
export const createResponseSchema = {
  title: 'ResponseRequest',
  type: 'object',
  properties: {
    ...modelFieldsSchema,
    input: {
      type: ['string', 'array', 'null'],
      items: {
        title: 'ResponseInputItem',
        type: 'object',
        properties: {
          type: text,
          role: text,
          content: { type: ['string', 'array', 'null'], items: { type: 'object' } },
        },
      },
      description: 'Text, or items: messages, function calls, outputs and reasoning.',
    },
    instructions: { ...text, description: 'System message for this turn only.' },
    previous_response_id: {
      type: ['string', 'null'],
      maxLength: 256,
      description: 'Stored response that this turn continues.',
    },
    store: { ...flag, default: true, description: 'Store this turn for later ones.' },
    stream: { ...flag, default: false },
    stream_options: object,
    metadata: {
      ...object,
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
      description: 'Key-value pairs, returned with the response.',
    },
    max_output_tokens: { type: ['integer', 'null'], minimum: 1, maximum: MAX_TOKENS },
    temperature: { type: ['number', 'null'], description: 'Typically 0 to 2.' },
    top_p: { type: ['number', 'null'], description: 'Typically 0 to 1.' },
    presence_penalty: { type: ['number', 'null'], minimum: -2, maximum: 2 },
    frequency_penalty: { type: ['number', 'null'], minimum: -2, maximum: 2 },
    top_logprobs: { type: ['integer', 'null'], minimum: 0, maximum: 20 },
    max_tool_calls: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'Maximum number of tool calls that the vendor runs.',
    },
    include: { type: ['array', 'null'], items: { type: 'string' } },
    tools: {
      type: ['array', 'null'],
      items: {
        title: 'ResponseTool',
        type: 'object',
        required: ['type'],
        properties: {
          type: { type: 'string' },
          name: { type: 'string', minLength: 1 },
          description: text,
          parameters: object,
          strict: flag,
        },
      },
    },
    tool_choice: { type: ['string', 'object', 'null'] },
    parallel_tool_calls: flag,
    text: {
      type: ['object', 'null'],
      properties: {
        format: {
          type: ['object', 'null'],
          required: ['type'],
          properties: {
            type: { type: 'string', enum: ['text', 'json_object', 'json_schema'] },
            name: { type: 'string', minLength: 1 },
            schema: { type: 'object' },
            strict: flag,
          },
        },
        verbosity: text,
      },
    },
    response_format: {
      type: ['object', 'null'],
      required: ['type'],
      properties: {
        type: { type: 'string', enum: ['text', 'json_object', 'json_schema'] },
        json_schema: object,
      },
      description: 'Synonym of `text.format`, as in chat completions.',
    },
    reasoning: {
      type: ['object', 'null'],
      properties: {
        effort: text,
        summary: text,
        max_tokens: { type: ['integer', 'null'], minimum: 0 },
        verbosity: { ...text, description: 'Synonym of `text.verbosity`.' },
      },
    },
    truncation: text,
    user: { ...text, description: 'End-user identifier.' },
    safety_identifier: text,
    prompt_cache_key: text,
    service_tier: text,
    background: {
      ...flag,
      description:
        'Return at once and generate the answer in the background. Poll the response until it has ended.',
    },
    conversation: {
      type: ['string', 'object', 'null'],
      description: 'Id of the conversation that this turn continues and is added to.',
    },
    prompt: object,
    trace: traceFieldSchema,
    ...routingFieldsSchema,
    session_id: sessionFieldSchema,
  },
} as const;

const { input, instructions, previous_response_id, prompt_cache_key, service_tier } =
  createResponseSchema.properties;

/** JSON Schema of a request to compact a conversation. */
export const compactSchema = {
  title: 'ResponseCompactionRequest',
  type: 'object',
  properties: {
    ...modelFieldsSchema,
    input,
    instructions,
    previous_response_id,
    prompt_cache_key,
    service_tier,
    ...routingFieldsSchema,
  },
} as const;

/** A validated body. */
export type ResponsesBody = BodyOf<typeof createResponseSchema>;
export type ResponseTool = NonNullable<ResponsesBody['tools']>[number];
export type TextFormat = NonNullable<NonNullable<ResponsesBody['text']>['format']>;

/** A validated body with the whole conversation in `input`, references resolved. */
export type CompleteBody = {
  [Key in keyof ResponsesBody as Key extends 'input' ? never : Key]: ResponsesBody[Key];
} & { input?: string | JsonObject[] | null };

const string = { type: 'string' } as const;
const parts = { type: ['string', 'array'], items: { type: 'object' } } as const;
const texts = {
  type: ['array', 'null'],
  items: { type: 'object', required: ['text'], properties: { text: string } },
} as const;

/**
 * JSON Schemas of known items and content parts, checked while the prompt is measured. Vendors
 * validate unknown types.
 */
export const itemSchemas = {
  message: { type: 'object', required: ['content'], properties: { content: parts } },
  function_call: {
    type: 'object',
    required: ['call_id', 'name', 'arguments'],
    properties: { call_id: string, name: string, arguments: string },
  },
  custom_tool_call: {
    type: 'object',
    required: ['call_id', 'name', 'input'],
    properties: { call_id: string, name: string, input: string },
  },
  /** Output of a function or custom tool. */
  output: {
    type: 'object',
    required: ['call_id', 'output'],
    properties: { call_id: string, output: parts },
  },
  reasoning: {
    type: 'object',
    properties: { summary: texts, content: texts, encrypted_content: text },
  },
} as const;

export const responsePartSchemas = {
  text: { type: 'object', required: ['text'], properties: { text: string } },
  refusal: { type: 'object', required: ['refusal'], properties: { refusal: string } },
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
} as const;
