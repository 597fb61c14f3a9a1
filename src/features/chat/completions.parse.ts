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

/** JSON Schema of the body of a legacy completion, for the check and for the OpenAPI description. */
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
      description: 'A text, or an array of one. It is sent as the message of a user.',
      example: 'Say hello',
    },
    ...shared,
    suffix: { type: ['string', 'null'], maxLength: 0, description: 'Must be left out.' },
    echo: { type: ['boolean', 'null'], description: 'Must be false.' },
    best_of: { type: ['integer', 'null'], minimum: 1, description: 'Must be `n`, or left out.' },
    logprobs: { type: ['integer', 'null'], description: 'Must be left out.' },
  },
} as const;

const validate = compileSchema(completionSchema);

/** Why a field of the legacy API is refused, by its name; what else it may be is in the schema. */
const REFUSED = {
  echo: 'the answer of a model for chat does not begin with its prompt',
  logprobs:
    'the figures of a model for chat have another shape; send `logprobs` to /v1/chat/completions',
} as const;

/**
 * Reads the body of a legacy completion as a chat of one message.
 *
 * @throws InvalidRequestError naming the first field at fault
 */
export function parseCompletion(received: JsonBody): CanonicalRequest {
  assertValidBody(validate, received);
  const { prompt, suffix: _suffix, echo, best_of: bestOf, logprobs, ...rest } = received.value;
  if (echo === true) throw refuse('echo', REFUSED.echo);
  if (logprobs != null) throw refuse('logprobs', REFUSED.logprobs);
  if (bestOf != null && bestOf !== (rest.n ?? 1)) {
    throw refuse('best_of', 'answers that nobody sees would be billed');
  }
  const messages = [{ role: 'user', content: readPrompt(prompt) }];
  const bytes = Buffer.from(JSON.stringify({ ...rest, input: undefined, messages }));
  const body = parseJsonBody(bytes, { maxParts: Infinity });
  // The vendor's answer is a chat, which is spelled anew.
  return { ...parseChat(body), decodesAnswer: true };
}

function readPrompt(prompt: BodyOf<typeof completionSchema>['prompt']): string {
  if (typeof prompt === 'string') return prompt;
  const [first]: readonly unknown[] = prompt;
  if (prompt.length > 1 && typeof first === 'string') {
    throw new InvalidRequestError(
      'prompt',
      '`prompt` holds several texts; one is answered at a time, so send a request for each.',
    );
  }
  if (typeof first === 'string' && first !== '') return first;
  throw new InvalidRequestError(
    'prompt',
    '`prompt` must be a text, or an array of one; tokens are not taken here.',
  );
}

function refuse(field: string, reason: string): InvalidRequestError {
  return new InvalidRequestError(field, `\`${field}\` is not taken here: ${reason}.`);
}
