import type { CanonicalPrompt, CanonicalRequest, Dialect } from './canonical-request.js';

/** The controls of a canonical prompt. */
export const PROMPT_FIELDS = [
  'temperature',
  'topP',
  'topK',
  'frequencyPenalty',
  'presencePenalty',
  'seed',
  'stop',
  'logitBias',
  'logprobs',
  'topLogprobs',
  'toolChoice',
  'parallelToolCalls',
  'responseFormat',
  'reasoning',
  'endUser',
] as const;
export type PromptField = (typeof PROMPT_FIELDS)[number];

/** The names that most dialects use, for `X-Gateway-Dropped-Params` and errors. */
const COMMON_NAMES: Record<PromptField, string> = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  seed: 'seed',
  stop: 'stop',
  logitBias: 'logit_bias',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'response_format',
  reasoning: 'reasoning',
  endUser: 'user',
};

const NAMES: Record<Dialect, Record<PromptField, string>> = {
  chat: COMMON_NAMES,
  messages: {
    ...COMMON_NAMES,
    stop: 'stop_sequences',
    parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
    responseFormat: 'output_config.format',
    reasoning: 'thinking',
    endUser: 'metadata.user_id',
  },
  responses: { ...COMMON_NAMES, responseFormat: 'text.format' },
};

/** Returns a field's name in the caller's dialect. */
export function fieldName(dialect: Dialect, field: PromptField): string {
  return NAMES[dialect][field];
}

/** Returns the dialect's name for the conversation, for errors. */
export function conversationField(dialect: Dialect): 'messages' | 'input' {
  return dialect === 'responses' ? 'input' : 'messages';
}

/**
 * Lists the request's fields that a vendor does not support, by the caller's names, including those that
 * the canonical form cannot express.
 *
 * @param supported the fields that the vendor's dialect supports
 */
export function unsupportedFields(
  request: CanonicalRequest,
  supported: ReadonlySet<PromptField>,
): string[] {
  const prompt = request.prompt();
  const names = NAMES[request.dialect];
  const dropped = PROMPT_FIELDS.filter(
    (field) => !supported.has(field) && isSet(prompt, field),
  ).map((field) => names[field]);
  return [...dropped, ...prompt.droppedFields];
}

function isSet(prompt: CanonicalPrompt, field: PromptField): boolean {
  switch (field) {
    case 'toolChoice':
    case 'parallelToolCalls':
    case 'responseFormat':
    case 'reasoning':
    case 'endUser':
      return prompt[field] !== undefined;
    default:
      return prompt.sampling[field] !== undefined;
  }
}
