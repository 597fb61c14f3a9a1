import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { parseJsonBody, type JsonBody } from '../../platform/http/json-body.js';
import { assertValidBody, compileSchema, type BodyOf } from '../../platform/http/validate-body.js';
import { chatCompletionSchema } from './chat-completion.schema.js';
import { parseChat } from './chat.parse.js';

const {
  messages: _messages,
  input: _input,
  tools: _tools,
  tool_choice: _toolChoice,
  parallel_tool_calls: _parallelToolCalls,
  response_format: _responseFormat,
  logprobs: _logprobs,
  top_logprobs: _topLogprobs,
  max_completion_tokens: _maxCompletionTokens,
  ...shared
} = chatCompletionSchema.properties;

/** JSON Schema of a legacy completion, for validation and OpenAPI. */
export const completionSchema = {
  title: 'CompletionRequest',
  type: 'object',
  required: ['prompt'],
  properties: {
    prompt: {
      type: ['string', 'array'],
      minLength: 1,
      minItems: 1,
      items: {},
      description: 'A string, or an array of one. Sent as a user message.',
      example: 'Say hello',
    },
    ...shared,
    suffix: { type: ['string', 'null'], maxLength: 0, description: 'Not supported. Omit it.' },
    echo: { type: ['boolean', 'null'], description: 'Must be false.' },
    best_of: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Must equal `n`, or be omitted.',
    },
    logprobs: { type: ['integer', 'null'], description: 'Not supported. Omit it.' },
  },
} as const;

const validate = compileSchema(completionSchema);

/** Why fields of the legacy API are rejected. Allowed values are in the schema. */
const REFUSED = {
  echo: "a chat model's answer does not start with its prompt",
  logprobs: 'chat models return them in another shape; send `logprobs` to /v1/chat/completions',
} as const;

/**
 * Converts a legacy completion to a chat with one message.
 * @throws InvalidRequestError naming the first invalid field
 */
export function parseCompletion(received: JsonBody): CanonicalRequest {
  assertValidBody(validate, received);
  const { prompt, suffix: _suffix, echo, best_of: bestOf, logprobs, ...rest } = received.value;
  if (echo === true) throw refuse('echo', REFUSED.echo);
  if (logprobs != null) throw refuse('logprobs', REFUSED.logprobs);
  if (bestOf != null && bestOf !== (rest.n ?? 1)) {
    throw refuse('best_of', 'discarded answers would be billed');
  }
  const messages = [{ role: 'user', content: readPrompt(prompt) }];
  const bytes = Buffer.from(JSON.stringify({ ...rest, input: undefined, messages }));
  const body = parseJsonBody(bytes, { maxParts: Infinity });
  // The vendor answers with a chat completion, which is rendered again.
  return { ...parseChat(body), decodesAnswer: true };
}

function readPrompt(prompt: BodyOf<typeof completionSchema>['prompt']): string {
  if (typeof prompt === 'string') return prompt;
  const [first]: readonly unknown[] = prompt;
  if (prompt.length > 1 && typeof first === 'string') {
    throw new InvalidRequestError(
      'prompt',
      '`prompt` contains several texts. Send a separate request for each.',
    );
  }
  if (typeof first === 'string' && first !== '') return first;
  throw new InvalidRequestError(
    'prompt',
    '`prompt` must be a string, or an array of one string. Tokens are not supported.',
  );
}

function refuse(field: string, reason: string): InvalidRequestError {
  return new InvalidRequestError(field, `\`${field}\` is not supported: ${reason}.`);
}
