import { errorDetailSchema } from '../../platform/errors/error-response.js';

const toolCallDelta = {
  type: 'object',
  required: ['index'],
  properties: {
    index: { type: 'integer', description: 'Of the call within the answer.' },
    id: { type: 'string', description: 'With the first piece only.' },
    type: { type: 'string', description: 'With the first piece only.' },
    function: {
      type: 'object',
      properties: {
        name: { type: ['string', 'null'] },
        arguments: { type: 'string', description: 'A piece of the JSON.' },
      },
    },
  },
} as const;

const choice = {
  type: 'object',
  required: ['index', 'delta'],
  properties: {
    index: { type: 'integer' },
    delta: {
      type: 'object',
      properties: {
        role: { type: ['string', 'null'], enum: ['assistant', null] },
        content: { type: ['string', 'null'], description: 'A piece of the text.' },
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
        '`stop`, `length`, `tool_calls`, `content_filter`, a vendor’s own, or `error` beside `error`.',
    },
  },
} as const;

/** JSON Schema of one event's data in a streamed chat completion; the last one is `[DONE]`. */
export const chatChunkSchema = {
  type: 'object',
  required: ['id', 'object', 'created', 'model', 'choices'],
  description:
    'The `data` of one event. The stream ends in `data: [DONE]`, and comments keep it alive.',
  properties: {
    id: { type: 'string' },
    object: { type: 'string', enum: ['chat.completion.chunk'] },
    created: { type: 'integer', description: 'Unix seconds.' },
    model: { type: 'string', description: 'The alias that answers.' },
    choices: {
      type: 'array',
      items: choice,
      description: 'Empty in the chunk that brings the usage.',
    },
    usage: {
      type: ['object', 'null'],
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
