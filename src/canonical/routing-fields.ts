import type { JsonObject } from '../platform/http/json-body.js';
import type { AccountBoundParam, RoutingPreferences } from './canonical-request.js';
import { RECOVERIES, type Recovery } from './canonical-request.js';
import { InvalidRequestError } from '../platform/errors/gateway-errors.js';

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
  recovery: {
    type: ['string', 'null'],
    enum: [...RECOVERIES, null],
    description:
      'Who goes on with a stream that breaks off after its first content: nobody (`off`), another route of the same ' +
      'model (`continue`), or one of the other models in `models` too (`any`). Without it `X-Gateway-Recovery` decides, else the tenant.',
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

/**
 * A field that shared capacity refuses.
 *
 * @param param dotted path of the field
 * @param reason why, as the end of a sentence
 */
export function notOnSharedCapacity(param: string, reason: string): AccountBoundParam {
  return { param, message: `\`${param}\` is not available on shared capacity: ${reason}.` };
}

/** A `service_tier` of an OpenAI-style body that shared capacity refuses; undefined where it does not. */
export function findBilledServiceTier({
  service_tier: tier,
}: JsonObject): AccountBoundParam | undefined {
  if (tier == null || tier === 'auto' || tier === 'default') return undefined;
  return notOnSharedCapacity('service_tier', 'other service tiers are billed at other prices');
}

/**
 * The aliases that a body names in `model` and `models`, in the order in which they are tried,
 * without repeats.
 *
 * @param value a body whose `model` is a string or nothing and whose `models` are strings or nothing
 * @throws InvalidRequestError naming the field at fault: no alias at all, or one without its provider
 */
export function readModelChain(value: Readonly<Record<string, unknown>>): [string, ...string[]] {
  const first = typeof value.model === 'string' ? value.model : undefined;
  const rest = stringsOf(value.models) ?? [];
  const chain = new Set(first === undefined ? rest : [first, ...rest]);
  const [primary, ...fallbacks] = chain;
  if (primary === undefined) {
    throw new InvalidRequestError(
      'model',
      'The parameter `model` is missing: send `model`, or a list of `models`.',
    );
  }
  for (const alias of chain) {
    if (/^[^/]+\/.+$/s.test(alias)) continue;
    throw new InvalidRequestError(
      alias === first ? 'model' : `models.${rest.indexOf(alias)}`,
      `${JSON.stringify(alias)} is no model alias; write it as <provider>/<model>, for example openai/gpt-4o-mini.`,
    );
  }
  return [primary, ...fallbacks];
}

/** What a body that has been checked says of routes, in `provider` and `route`. */
export function readRoutingPreferences(
  value: Readonly<Record<string, unknown>>,
): RoutingPreferences {
  const provider: Readonly<Record<string, unknown>> = { ...(value.provider ?? undefined) };
  return {
    order: stringsOf(provider.order) ?? [],
    only: stringsOf(provider.only),
    ignore: stringsOf(provider.ignore) ?? [],
    allowFallbacks: provider.allow_fallbacks !== false,
    strategy: value.route === 'sort' ? 'sort' : 'fallback',
    recovery: isRecovery(value.recovery) ? value.recovery : undefined,
  };
}

export function isRecovery(value: unknown): value is Recovery {
  return RECOVERIES.some((recovery) => recovery === value);
}

function stringsOf(list: unknown): string[] | undefined {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : undefined;
}
