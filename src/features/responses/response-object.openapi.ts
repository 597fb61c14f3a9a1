import type { OpenApiSchema } from '../../platform/http/validate-body.js';

export const usage = {
  type: ['object', 'null'],
  properties: {
    input_tokens: { type: 'integer' },
    input_tokens_details: {
      type: 'object',
      properties: {
        cached_tokens: { type: 'integer' },
        cache_write_tokens: { type: 'integer' },
      },
    },
    output_tokens: { type: 'integer' },
    output_tokens_details: {
      type: 'object',
      properties: { reasoning_tokens: { type: 'integer' } },
    },
    total_tokens: { type: 'integer' },
  },
} satisfies OpenApiSchema;

export const item = {
  title: 'ResponseItem',
  type: 'object',
  required: ['id', 'type'],
  properties: {
    id: { type: 'string' },
    type: { type: 'string', example: 'message' },
    role: { type: 'string' },
    status: { type: 'string' },
    content: { type: 'array', items: { type: 'object' } },
    summary: { type: 'array', items: { type: 'object' } },
    encrypted_content: { type: ['string', 'null'] },
    call_id: { type: 'string' },
    name: { type: 'string' },
    arguments: { type: 'string' },
  },
} satisfies OpenApiSchema;

/** A page of items. */
export const itemList = {
  title: 'ResponseItemList',
  type: 'object',
  required: ['object', 'data', 'first_id', 'last_id', 'has_more'],
  properties: {
    object: { type: 'string', enum: ['list'] },
    data: { type: 'array', items: item },
    first_id: { type: ['string', 'null'] },
    last_id: { type: ['string', 'null'] },
    has_more: { type: 'boolean' },
  },
} satisfies OpenApiSchema;

export const response = {
  title: 'ResponseObject',
  type: 'object',
  required: ['id', 'object', 'created_at', 'status', 'model', 'output', 'usage'],
  properties: {
    id: { type: 'string', example: 'resp_…' },
    object: { type: 'string', enum: ['response'] },
    created_at: { type: 'integer', description: 'Unix seconds.' },
    completed_at: { type: ['integer', 'null'], description: 'Unix seconds.' },
    status: {
      type: 'string',
      enum: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'],
    },
    model: { type: 'string', description: 'Alias of the model that answered.' },
    output: { type: 'array', items: item },
    output_text: { type: 'string' },
    error: {
      type: ['object', 'null'],
      properties: { code: { type: 'string' }, message: { type: 'string' } },
    },
    incomplete_details: {
      type: ['object', 'null'],
      properties: { reason: { type: 'string', enum: ['max_output_tokens', 'content_filter'] } },
    },
    usage,
    previous_response_id: { type: ['string', 'null'] },
    store: { type: 'boolean' },
    metadata: { type: 'object' },
    instructions: { type: ['string', 'null'] },
    max_output_tokens: { type: ['integer', 'null'] },
    parallel_tool_calls: { type: 'boolean' },
    reasoning: { type: 'object' },
    temperature: { type: 'number' },
    presence_penalty: { type: 'number' },
    frequency_penalty: { type: 'number' },
    top_logprobs: { type: 'integer' },
    max_tool_calls: { type: ['integer', 'null'] },
    safety_identifier: { type: ['string', 'null'] },
    prompt_cache_key: { type: ['string', 'null'] },
    background: { type: 'boolean' },
    service_tier: { type: 'string' },
    text: { type: 'object' },
    tool_choice: { oneOf: [{ type: 'string' }, { type: 'object' }] },
    tools: { type: 'array', items: { type: 'object' } },
    top_p: { type: 'number' },
    truncation: { type: 'string' },
    user: { type: ['string', 'null'] },
  },
} satisfies OpenApiSchema;
