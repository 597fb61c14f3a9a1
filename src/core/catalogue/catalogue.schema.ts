import { PRICE_NAMES } from '../../platform/config/pool-accounts.js';
import { MAX_TIMEOUT_MS } from '../../platform/config/setting-values.js';
import { MODEL_KINDS } from './catalogue.types.js';

const price = { type: 'string', pattern: '^\\d{1,9}(\\.\\d{1,18})?$' };
const name = { type: 'string', minLength: 1, maxLength: 200 };
const strings = { type: 'array', items: { type: 'string' } };
const MAX_TOKENS = 1_000_000_000;
/** The last second of the year 9999, beyond which dates have no usual form. */
const MAX_CREATED = 253_402_300_799;
const tokens = { type: 'integer', minimum: 1, maximum: MAX_TOKENS };
const milliseconds = { type: 'integer', minimum: 1, maximum: MAX_TIMEOUT_MS };

const pricing = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(PRICE_NAMES.map((key) => [key, price])),
};

/**
 * Shared by reference: inlined, the schema would be six times as long, and slower to compile at
 * every start.
 */
const somePrices = { $ref: '#/$defs/somePrices' };
const longPrompts = { $ref: '#/$defs/longPrompts' };
const variants = { $ref: '#/$defs/variants' };
const sizes = { $ref: '#/$defs/sizes' };
const priceChanges = { $ref: '#/$defs/priceChanges' };

const priceTiers = {
  long_prompts: longPrompts,
  service_tiers: variants,
  regions: variants,
  sizes,
};

const sizeName = { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,32}$' };
const day = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' };

const definitions = {
  somePrices: { ...pricing, minProperties: 1 },
  longPrompts: {
    type: 'array',
    minItems: 1,
    maxItems: 8,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['above', 'pricing'],
      properties: { above: tokens, pricing: somePrices },
    },
  },
  /** Prices by name: lower-case letters, digits, `-` and `_`. */
  variants: {
    type: 'object',
    minProperties: 1,
    maxProperties: 64,
    propertyNames: { pattern: '^[a-z][a-z0-9_-]{0,31}$' },
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      required: ['pricing'],
      properties: { pricing: somePrices, long_prompts: longPrompts },
    },
  },
  sizes: {
    type: 'array',
    minItems: 1,
    maxItems: 64,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['pricing'],
      properties: { size: sizeName, quality: sizeName, pricing: somePrices },
    },
  },
  priceChanges: {
    type: 'array',
    minItems: 1,
    maxItems: 32,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['effective_from'],
      properties: { effective_from: day, pricing: somePrices, ...priceTiers },
    },
  },
};

/** JSON Schema of a catalogue row with defaults filled in. */
export const catalogueModelSchema = {
  $defs: definitions,
  type: 'object',
  additionalProperties: false,
  required: ['id', 'kind', 'pricing', 'routes', 'context_length'],
  properties: {
    id: { type: 'string', pattern: '^[a-z0-9-]+/.+$', maxLength: 200 },
    kind: { enum: MODEL_KINDS },
    name,
    description: { type: 'string' },
    created: { type: 'integer', minimum: 0, maximum: MAX_CREATED },
    owned_by: name,
    context_length: tokens,
    max_completion_tokens: { type: ['integer', 'null'], minimum: 1, maximum: MAX_TOKENS },
    is_moderated: { type: 'boolean' },
    architecture: {
      type: ['object', 'null'],
      required: ['modality', 'input_modalities', 'output_modalities', 'tokenizer'],
      properties: {
        modality: { type: 'string' },
        input_modalities: strings,
        output_modalities: strings,
        tokenizer: { type: 'string' },
      },
    },
    supported_parameters: strings,
    pricing,
    ...priceTiers,
    price_changes: priceChanges,
    source: name,
    as_of: day,
    media_tokens: {
      type: 'object',
      additionalProperties: false,
      properties: { image: tokens, page: tokens, audio_second: tokens },
    },
    routes: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['provider', 'model', 'priority'],
        properties: {
          provider: { type: 'string', pattern: '^[a-z0-9-]+$' },
          model: name,
          priority: { type: 'integer', minimum: 0, maximum: 1_000_000 },
          pricing,
          ...priceTiers,
          price_changes: priceChanges,
          timeouts: {
            type: 'object',
            additionalProperties: false,
            properties: {
              first_byte_ms: milliseconds,
              idle_ms: milliseconds,
              request_ms: milliseconds,
            },
          },
        },
      },
    },
  },
} as const;
