import {
  notOnSharedCapacity,
  readModelChain,
  readRoutingPreferences,
  modelFieldsSchema,
  routingFieldsSchema,
  traceFieldSchema,
} from '../../canonical/routing-fields.js';
import { readEndUser } from '../../canonical/end-user.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../canonical/work-request.js';
import { PromptMeter, estimateTokens } from '../../canonical/prompt-size.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { JsonBody } from '../../platform/http/json-body.js';
import { assertValidBody, compileSchema } from '../../platform/http/validate-body.js';
/** Maximum items per request, as for vendors of this dialect. */
const MAX_ITEMS = 2_048;

/**
 * JSON Schema of the request body, for validation and OpenAPI. `readEmbeddingInput` validates the
 * items of `input`, so that errors name the invalid item. Unknown fields are forwarded to vendors
 * of this dialect.
 */
export const createEmbeddingsSchema = {
  title: 'EmbeddingRequest',
  type: 'object',
  required: ['input'],
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/embed' },
    input: {
      type: ['string', 'array'],
      items: {},
      description:
        'A text, up to 2,048 texts, the tokens of one text, or up to 2,048 arrays of tokens. Tokens use the model’s vocabulary; models that accept only text require cl100k tokens.',
    },
    encoding_format: {
      type: ['string', 'null'],
      enum: ['float', 'base64', null],
      default: 'float',
      description: '`base64`: little-endian 32-bit floats.',
    },
    dimensions: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 100_000,
      description: 'Number of dimensions, for models that can reduce it.',
    },
    user: { type: ['string', 'null'], description: 'End-user identifier.' },
    trace: traceFieldSchema,
    models: {
      ...modelFieldsSchema.models,
      description: 'At most one alias: vectors of different models are not comparable.',
    },
    ...routingFieldsSchema,
  },
} as const;

/** Text-only vendors count the decoded text in their own vocabulary, which may need more tokens. */
const MAX_VENDOR_TOKENS_PER_TOKEN = 2;

const MAX_TOKEN = 2 ** 31 - 1;

const validate = compileSchema(createEmbeddingsSchema);

/** Reads an embeddings body. @throws InvalidRequestError naming the first invalid field */
export function parseEmbeddings(body: JsonBody): EmbeddingRequest {
  assertValidBody(validate, body);
  const fields = body.value;
  const models = readModelChain(body.value);
  if (models.length > 1) {
    throw new InvalidRequestError(
      'models',
      'Vectors of different models are not comparable, so `models` must name only one model. Other providers of that model still serve as fallbacks.',
    );
  }
  const input = readEmbeddingInput(fields.input);
  const { ceiling, estimate } = measure(input);
  return {
    kind: 'embedding',
    body,
    models,
    routing: readRoutingPreferences(body.value),
    stream: false,
    accountBoundParam:
      fields.service_tier == null
        ? undefined
        : notOnSharedCapacity('service_tier', 'service tiers are billed at other prices'),
    ceiling: { ...NO_USAGE, inputTokens: ceiling },
    estimate: { ...NO_USAGE, inputTokens: estimate },
    items: (input.type === 'texts' ? input.texts : input.tokens).length,
    input,
    encoding: fields.encoding_format ?? 'float',
    dimensions: fields.dimensions ?? undefined,
    endUser: readEndUser(fields.user),
  };
}

/** Returns the maximum token count, and the estimate for vendors that report none. */
function measure(input: EmbeddingInput): { ceiling: number; estimate: number } {
  if (input.type === 'tokens') {
    const tokens = input.tokens.reduce((sum, item) => sum + item.length, 0);
    return { ceiling: tokens * MAX_VENDOR_TOKENS_PER_TOKEN, estimate: tokens };
  }
  let ceiling = 0;
  let characters = 0;
  for (const text of input.texts) {
    // Counted per item: two short items don't share a token.
    const meter = new PromptMeter();
    meter.addText(text);
    const size = meter.size();
    ceiling += size.tokens;
    characters += size.characters;
  }
  return { ceiling, estimate: estimateTokens(characters) };
}

/**
 * Reads `input`.
 *
 * @param input a string or an array of any items
 * @throws InvalidRequestError naming `input` or the invalid item
 */
function readEmbeddingInput(input: string | readonly unknown[]): EmbeddingInput {
  if (input.length === 0) throw new InvalidRequestError('input', '`input` must not be empty.');
  if (typeof input === 'string') return { type: 'texts', texts: [input] };
  const [first] = input;
  if (typeof first === 'number') {
    return { type: 'tokens', tokens: [readTokens(input, 'input')] };
  }
  if (input.length > MAX_ITEMS) {
    throw new InvalidRequestError(
      'input',
      `\`input\` has ${input.length} items; send at most ${MAX_ITEMS} per request.`,
    );
  }
  if (Array.isArray(first)) {
    return {
      type: 'tokens',
      tokens: input.map((item, index) => readTokens(item, `input.${index}`)),
    };
  }
  return { type: 'texts', texts: input.map((item, index) => readText(item, `input.${index}`)) };
}

function readText(item: unknown, path: string): string {
  if (typeof item !== 'string') throw mixed(path, 'a string');
  if (item === '') throw new InvalidRequestError(path, `\`${path}\` must not be empty.`);
  return item;
}

function readTokens(item: unknown, path: string): readonly number[] {
  if (!Array.isArray(item)) throw mixed(path, 'an array of tokens');
  if (item.length === 0) throw new InvalidRequestError(path, `\`${path}\` must not be empty.`);
  const tokens: readonly unknown[] = item;
  if (tokens.every(isToken)) return tokens;
  const bad = tokens.findIndex((token) => !isToken(token));
  throw mixed(`${path}.${bad}`, 'a token, a non-negative integer');
}

function isToken(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKEN;
}

function mixed(path: string, expected: string): InvalidRequestError {
  return new InvalidRequestError(
    path,
    `\`${path}\` must be ${expected}. \`input\` is a text, an array of texts, an array of tokens, or an array of token arrays.`,
  );
}
