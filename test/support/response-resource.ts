import { z } from 'zod';

const seconds = z.int().min(0);
const count = z.int().min(0);
const status = z.enum(['in_progress', 'completed', 'incomplete']);

const outputText = z.looseObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.looseObject({ type: z.string() })),
  logprobs: z.array(z.unknown()),
});
const refusal = z.looseObject({ type: z.literal('refusal'), refusal: z.string() });
const summaryText = z.looseObject({ type: z.literal('summary_text'), text: z.string() });
const part = z.union([outputText, refusal, summaryText]);

const item = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message'),
    id: z.string(),
    status,
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.array(z.union([outputText, refusal])),
  }),
  z.looseObject({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status,
  }),
  z.looseObject({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(summaryText),
    encrypted_content: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('compaction'),
    id: z.string(),
    encrypted_content: z.string(),
  }),
]);

const tool = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('function'),
    name: z.string(),
    description: z.string().nullable(),
    parameters: z.looseObject({}).nullable(),
    strict: z.boolean().nullable(),
  }),
]);

const format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), name: z.string() }),
]);

const usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_tokens_details: z.looseObject({ cached_tokens: count }),
  output_tokens_details: z.looseObject({ reasoning_tokens: count }),
});

/** A response object with every member that clients of the dialect rely on. */
export const responseResource = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: seconds,
  completed_at: seconds.nullable(),
  status: z.string(),
  incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(item),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(tool),
  tool_choice: z.union([
    z.enum(['none', 'auto', 'required']),
    z.looseObject({ type: z.literal('function'), name: z.string().optional() }),
  ]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: z
    .looseObject({ effort: z.string().nullable(), summary: z.string().nullable() })
    .nullable(),
  user: z.string().nullable(),
  usage: usage.nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});

export type ResponseResource = z.infer<typeof responseResource>;

const place = { item_id: z.string(), output_index: count };
const inPart = { ...place, content_index: count };
const inSummary = { ...place, summary_index: count };

function event<Shape extends z.core.$ZodLooseShape>(types: readonly string[], shape: Shape) {
  const type = z.enum(types.map((name) => `response.${name}`));
  return z.looseObject({ type, sequence_number: count, ...shape });
}

/** Any event of a streamed response. */
export const responseEvent = z.union([
  event(['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'], {
    response: responseResource,
  }),
  event(['output_item.added', 'output_item.done'], { output_index: count, item }),
  event(['content_part.added', 'content_part.done'], { ...inPart, part }),
  event(['output_text.delta'], { ...inPart, delta: z.string(), logprobs: z.array(z.unknown()) }),
  event(['output_text.done'], { ...inPart, text: z.string(), logprobs: z.array(z.unknown()) }),
  event(['refusal.delta'], { ...inPart, delta: z.string() }),
  event(['refusal.done'], { ...inPart, refusal: z.string() }),
  event(['function_call_arguments.delta'], { ...place, delta: z.string() }),
  event(['function_call_arguments.done'], { ...place, arguments: z.string() }),
  event(['reasoning_summary_part.added', 'reasoning_summary_part.done'], { ...inSummary, part }),
  event(['reasoning_summary_text.delta'], { ...inSummary, delta: z.string() }),
  event(['reasoning_summary_text.done'], { ...inSummary, text: z.string() }),
]);

export type ResponseEvent = z.infer<typeof responseEvent>;
