import { errorDetailSchema } from '../../platform/errors/error-response.js';

const block = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', description: '`text`, `thinking`, `redacted_thinking`, `tool_use`.' },
  },
} as const;

const delta = {
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
    partial_json: { type: 'string', description: 'A piece of the input’s JSON.' },
  },
} as const;

const usage = {
  type: 'object',
  required: ['output_tokens'],
  properties: {
    input_tokens: { type: ['integer', 'null'] },
    cache_creation_input_tokens: { type: ['integer', 'null'] },
    cache_read_input_tokens: { type: ['integer', 'null'] },
    output_tokens: { type: 'integer' },
  },
} as const;

const index = { type: 'integer', description: 'Of the block within the message.' } as const;

function event(type: string, members: Readonly<Record<string, object>>): object {
  return {
    type: 'object',
    required: ['type', ...Object.keys(members)],
    properties: { type: { type: 'string', enum: [type] }, ...members },
  };
}

/** @param message JSON Schema of a whole message. */
export function messageEventSchema(message: object): object {
  return {
    description: 'The `data` of one event, which bears the name of its type.',
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
      event('error', { error: errorDetailSchema }),
    ],
    example: {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'Hello' },
    },
  };
}
