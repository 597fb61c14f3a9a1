import {
  modelFieldsSchema,
  routingFieldsSchema,
  traceFieldSchema,
} from '../../canonical/routing-fields.js';

/**
 * JSON Schema of the request body: it checks every call (compiled by ajv) and is what the OpenAPI
 * description shows, so the two cannot disagree. Fields that are not named here are allowed and
 * go to vendors that speak this dialect. `null` is what several SDKs send for "not set".
 */
export const chatCompletionSchema = {
  type: 'object',
  properties: {
    ...modelFieldsSchema,
    messages: {
      type: ['array', 'null'],
      description: 'The conversation; `content` is a string or an array of content parts.',
      items: {
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
      description: 'Responses-style input, instead of `messages`.',
    },
    stream: { type: ['boolean', 'null'], default: false },
    stream_options: {
      type: ['object', 'null'],
      properties: {
        include_usage: {
          type: ['boolean', 'null'],
          description: 'Send one last chunk with the usage before `[DONE]`.',
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
    tool_choice: { type: ['string', 'object', 'null'] },
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
    metadata: { type: ['object', 'null'] },
    trace: traceFieldSchema,
    ...routingFieldsSchema,
  },
} as const;
