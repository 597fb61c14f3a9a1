import {
  modelFieldsSchema,
  routingFieldsSchema,
  sessionFieldSchema,
  traceFieldSchema,
} from '../../canonical/routing-fields.js';
import type { BodyOf } from '../../platform/http/validate-body.js';

/**
 * JSON Schema of the request body, used both for validation (ajv) and for OpenAPI. Content blocks
 * are validated while they are measured. Unknown fields are allowed and forwarded to vendors of
 * this dialect.
 */
const block = {
  title: 'ContentBlock',
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string', example: 'text' } },
} as const;

const content = { type: ['string', 'array'], items: block } as const;

const sharedProperties = {
  ...modelFieldsSchema,
  messages: {
    type: ['array', 'null'],
    description:
      'The conversation. `content` is a string or an array of blocks: `text`, `image`, `document`, `search_result`, `thinking`, `redacted_thinking`, `tool_use`, `tool_result`.',
    items: {
      title: 'MessageParam',
      type: 'object',
      required: ['role', 'content'],
      properties: {
        role: { type: 'string', enum: ['user', 'assistant', 'system'] },
        content,
      },
    },
  },
  system: {
    type: ['string', 'array', 'null'],
    items: block,
    description: 'System prompt, or an array of `text` blocks.',
  },
  tools: {
    type: ['array', 'null'],
    description:
      'Tools that the caller runs, and web searches (`web_search_…`) if the model has a price for them.',
    items: {
      title: 'MessageTool',
      type: 'object',
      properties: {
        type: { type: ['string', 'null'], description: '`custom`, or omitted.' },
        name: { type: 'string', minLength: 1 },
        description: { type: ['string', 'null'] },
        input_schema: { type: ['object', 'null'], description: 'JSON Schema of the input.' },
        strict: { type: ['boolean', 'null'] },
      },
    },
  },
  tool_choice: {
    type: ['object', 'null'],
    required: ['type'],
    properties: {
      type: { type: 'string', enum: ['auto', 'any', 'tool', 'none'] },
      name: { type: ['string', 'null'], description: 'Tool name, with type `tool`.' },
      disable_parallel_tool_use: { type: ['boolean', 'null'] },
    },
  },
  thinking: {
    type: ['object', 'null'],
    required: ['type'],
    properties: {
      type: { type: 'string', description: '`enabled`, `adaptive` or `disabled`.' },
      budget_tokens: { type: ['integer', 'null'], minimum: 1, maximum: 2_147_483_647 },
    },
  },
  output_config: {
    type: ['object', 'null'],
    properties: {
      effort: { type: ['string', 'null'], description: '`low`, `medium`, `high`, …' },
      format: {
        type: ['object', 'null'],
        required: ['type'],
        properties: {
          type: { type: 'string', enum: ['json_schema'] },
          schema: { type: 'object' },
        },
      },
    },
  },
  ...routingFieldsSchema,
  session_id: sessionFieldSchema,
} as const;

export const messagesSchema = {
  title: 'MessageRequest',
  type: 'object',
  properties: {
    ...sharedProperties,
    max_tokens: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'Maximum output tokens; required.',
      example: 1024,
    },
    stream: { type: ['boolean', 'null'], default: false },
    temperature: { type: ['number', 'null'], minimum: 0, maximum: 1, description: '0 to 1.' },
    top_p: { type: ['number', 'null'], description: 'Nucleus sampling threshold.' },
    top_k: { type: ['integer', 'null'], minimum: 0 },
    stop_sequences: { type: ['array', 'null'], items: { type: 'string' } },
    metadata: {
      type: ['object', 'null'],
      properties: {
        user_id: { type: ['string', 'null'], description: 'End-user identifier.' },
      },
    },
    trace: traceFieldSchema,
  },
} as const;

/** Only fields that the model reads are counted. Others are accepted and ignored. */
export const countTokensSchema = {
  title: 'CountTokensRequest',
  type: 'object',
  properties: sharedProperties,
} as const;

/** A body validated by either schema. */
export type PromptBody = BodyOf<typeof countTokensSchema>;
export type Message = NonNullable<PromptBody['messages']>[number];
export type MessageTool = NonNullable<PromptBody['tools']>[number];

const string = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const object = { type: 'object' } as const;
const blocks = { type: ['string', 'array'], items: object } as const;

/**
 * JSON Schemas of known content blocks and media sources by type, checked while the prompt is
 * measured. Vendors validate unknown types.
 */
export const blockSchemas = {
  text: { type: 'object', required: ['text'], properties: { text: string } },
  image: { type: 'object', required: ['source'], properties: { source: object } },
  document: {
    type: 'object',
    required: ['source'],
    properties: { source: object, title: textOrNull, context: textOrNull },
  },
  search_result: {
    type: 'object',
    required: ['title', 'source', 'content'],
    properties: { title: string, source: string, content: blocks },
  },
  thinking: {
    type: 'object',
    required: ['thinking', 'signature'],
    properties: { thinking: string, signature: string },
  },
  redacted_thinking: { type: 'object', required: ['data'], properties: { data: string } },
  tool_use: {
    type: 'object',
    required: ['id', 'name', 'input'],
    properties: { id: string, name: string, input: object },
  },
  tool_result: {
    type: 'object',
    required: ['tool_use_id'],
    properties: {
      tool_use_id: string,
      is_error: { type: ['boolean', 'null'] },
      content: { type: ['string', 'array', 'null'], items: object },
    },
  },
} as const;

export const sourceSchemas = {
  base64: {
    type: 'object',
    required: ['media_type', 'data'],
    properties: { media_type: string, data: string },
  },
  url: { type: 'object', required: ['url'], properties: { url: string } },
  text: { type: 'object', required: ['data'], properties: { data: string } },
  content: { type: 'object', required: ['content'], properties: { content: blocks } },
} as const;
