/**
 * JSON Schema of the fields that every text endpoint takes for the choice of models and routes,
 * whatever its dialect.
 */
const MAX_ALIAS_LENGTH = 256;

const alias = { type: 'string', minLength: 1, maxLength: MAX_ALIAS_LENGTH } as const;
const providerNames = {
  type: ['array', 'null'],
  maxItems: 64,
  items: { type: 'string', maxLength: 64 },
} as const;

export const modelFieldsSchema = {
  model: {
    type: ['string', 'null'],
    maxLength: MAX_ALIAS_LENGTH,
    description: 'Primary model alias `<provider>/<model>`.',
    example: 'sandbox/echo',
  },
  models: {
    type: ['array', 'null'],
    maxItems: 32,
    items: alias,
    description: 'Fallback aliases, tried in order; alone or after `model`.',
  },
} as const;

export const routingFieldsSchema = {
  provider: {
    type: ['object', 'null'],
    description: 'Routing preferences.',
    properties: {
      allow_fallbacks: { type: ['boolean', 'null'], default: true },
      order: { ...providerNames, description: 'Providers to try first.' },
      only: { ...providerNames, description: 'No provider but these.' },
      ignore: { ...providerNames, description: 'None of these providers.' },
    },
  },
  route: {
    type: ['string', 'null'],
    enum: ['fallback', 'sort', null],
    description: '`fallback` keeps the order of the chain, `sort` puts the cheapest first.',
  },
} as const;

/** What a caller says about its trace; what it may hold besides is read where traces are made. */
export const traceFieldSchema = {
  type: ['object', 'null'],
  description:
    'About the trace that `X-Gateway-Broadcast: true` asks for; 16 KB at most. Never goes to a vendor.',
  properties: {
    trace_name: { type: ['string', 'null'], description: 'What the root span is called.' },
    priority: { type: ['string', 'null'] },
  },
} as const;
