import type { JsonObject } from '../platform/http/json-body.js';
import type { AccountBoundParam } from './canonical-request.js';
import type { MaxPrice, RouteSort, RoutingPreferences } from './routing-preferences.js';
import {
  MAX_COST_MODES,
  MAX_HEDGE_MS,
  RECOVERIES,
  ROUTE_SORTS,
  SORT_PARTITIONS,
  type MaxCostMode,
  type Recovery,
} from './routing-preferences.js';
import { parsePrice, PRICE_SCALE } from './exact-pricing.js';
import { InvalidRequestError } from '../platform/errors/gateway-errors.js';

/** Body fields of this or another gateway that mean nothing to a vendor. */
export const GATEWAY_FIELDS: readonly string[] = [
  ...['models', 'provider', 'route', 'recovery', 'session_id'],
  ...['max_cost', 'max_cost_mode', 'hedge_ms'],
  ...['trace', 'transforms', 'plugins', 'usage'],
];

/**
 * JSON Schema of the model and route selection fields that every text endpoint accepts, whatever its
 * dialect.
 */
const MAX_ALIAS_LENGTH = 256;

const alias = { type: 'string', minLength: 1, maxLength: MAX_ALIAS_LENGTH } as const;

const providerNames = {
  type: ['array', 'null'],
  maxItems: 64,
  items: { type: 'string', maxLength: 64 },
} as const;

/** A number, or a decimal as text, which is all that forms can send. */
const price = (unit: string) =>
  ({
    type: ['number', 'string', 'null'],
    minimum: 0,
    maximum: 999_999_999,
    pattern: '^[0-9]{1,9}(\\.[0-9]{1,18})?$',
    description: `USD ${unit}, a number or a decimal string.`,
  }) as const;

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
      only: { ...providerNames, description: 'Use only these providers.' },
      ignore: { ...providerNames, description: 'Do not use these providers.' },
      sort: {
        type: ['string', 'object', 'null'],
        pattern: `^(${ROUTE_SORTS.join('|')})$`,
        properties: {
          by: { type: ['string', 'null'], enum: [...ROUTE_SORTS, null] },
          partition: {
            type: ['string', 'null'],
            enum: [...SORT_PARTITIONS, null],
            default: 'model',
            description: '`none` ranks the routes of all models in the chain together.',
          },
        },
        description:
          'How to rank routes: `price`, `latency` (time to first content) or `throughput` (tokens per second), as measured by the gateway; or an object with one of these in `by`.',
        example: 'latency',
      },
      max_price: {
        type: ['object', 'null'],
        additionalProperties: false,
        properties: {
          prompt: price('per million input tokens'),
          completion: price('per million output tokens'),
          request: price('per request'),
          image: price('per image'),
        },
        description: 'Excludes routes with higher list prices.',
        example: { prompt: 1, completion: 2 },
      },
    },
  },
  route: {
    type: ['string', 'null'],
    enum: ['fallback', 'sort', null],
    description: '`fallback` keeps the order of the chain, `sort` puts the cheapest route first.',
  },
  recovery: {
    type: ['string', 'null'],
    enum: [...RECOVERIES, null],
    description:
      'Which route resumes a stream that is interrupted after its first content: none (`off`), another route of the same ' +
      'model (`continue`), or also the other models in `models` (`any`). Defaults to `X-Gateway-Recovery`, then to the tenant setting.',
  },
  max_cost: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Maximum cost of the request in credits, whatever its vendor reports. Excludes routes that could cost more. ' +
      'Defaults to `X-Gateway-Max-Cost`.',
    example: 2_000,
  },
  max_cost_mode: {
    type: ['string', 'null'],
    enum: [...MAX_COST_MODES, null],
    description:
      'With `fit` instead of `strict`, routes that could cost more than `max_cost` are kept and limited to a shorter answer, reported in ' +
      '`X-Gateway-Output-Limit`. Defaults to `X-Gateway-Max-Cost-Mode`.',
  },
  hedge_ms: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: MAX_HEDGE_MS,
    description:
      'Calls a second route after this many milliseconds without content. The first route to send content wins, and only that one is charged. ' +
      'Defaults to `X-Gateway-Hedge-Ms`. Never applies to jobs, images, background answers, or requests with vendor-run web searches or tools.',
    example: 2000,
  },
} as const;

/** The caller's id for its conversation; its turns are routed to where the prompt cache is. */
export const sessionFieldSchema = {
  type: ['string', 'null'],
  maxLength: 256,
  description:
    'Conversation id. Turns of a conversation stay with one provider and account while it is healthy. Defaults to `X-Session-Id`, ' +
    'then to a hash of the opening messages. Never sent to a vendor.',
} as const;

/** The caller's trace options; the tracing code parses the rest of the fields. */
export const traceFieldSchema = {
  type: ['object', 'null'],
  description:
    'Options for the trace that `X-Gateway-Broadcast: true` requests; at most 16 KB. Never sent to a vendor.',
  properties: {
    trace_name: { type: ['string', 'null'], description: 'Name of the root span.' },
    priority: { type: ['string', 'null'] },
  },
} as const;

/**
 * Describes a field that shared capacity refuses.
 *
 * @param param dotted path of the field
 * @param reason why, as the end of a sentence
 */
export function notOnSharedCapacity(param: string, reason: string): AccountBoundParam {
  return { param, message: `\`${param}\` is not available on shared capacity: ${reason}.` };
}

/** Returns an OpenAI-style `service_tier` that only routes with a price for it accept; undefined: all routes do. */
export function findBilledServiceTier({
  service_tier: tier,
}: JsonObject): AccountBoundParam | undefined {
  if (tier == null || tier === 'auto' || tier === 'default') return undefined;
  return {
    ...notOnSharedCapacity('service_tier', 'other service tiers are billed at other prices'),
    ...(typeof tier === 'string' && { priced: { tier } }),
  };
}

/**
 * Reads the aliases of `model` and `models` in the order to try them, without duplicates.
 *
 * @param value a body whose `model` is a string or absent and whose `models` are strings or absent
 * @throws InvalidRequestError naming the field: no alias at all, or one without a provider
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
      `${JSON.stringify(alias.slice(0, MAX_ALIAS_LENGTH))} is not a model alias; use <provider>/<model>, for example openai/gpt-4o-mini.`,
    );
  }
  return [primary, ...fallbacks];
}

/** Reads the routing preferences of a validated body from `provider` and `route`. */
export function readRoutingPreferences(
  value: Readonly<Record<string, unknown>>,
): RoutingPreferences {
  const provider: Readonly<Record<string, unknown>> = { ...(value.provider ?? undefined) };
  const strategy = value.route === 'sort' ? 'sort' : 'fallback';
  return {
    order: stringsOf(provider.order) ?? [],
    only: stringsOf(provider.only),
    ignore: stringsOf(provider.ignore) ?? [],
    allowFallbacks: provider.allow_fallbacks !== false,
    strategy,
    sort: provider.sort == null ? undefined : readSort(provider.sort, strategy),
    maxPrice: provider.max_price == null ? undefined : readMaxPrice({ ...provider.max_price }),
    recovery: isRecovery(value.recovery) ? value.recovery : undefined,
    maxCost: typeof value.max_cost === 'number' ? value.max_cost : undefined,
    maxCostMode: isMaxCostMode(value.max_cost_mode) ? value.max_cost_mode : undefined,
    hedgeMs: typeof value.hedge_ms === 'number' ? value.hedge_ms : undefined,
  };
}

function readSort(value: unknown, strategy: RoutingPreferences['strategy']): RouteSort | undefined {
  const options: Readonly<JsonObject> = typeof value === 'object' ? { ...value } : { by: value };
  const by = ROUTE_SORTS.find((sort) => sort === options.by);
  if (!by) return undefined;
  const whole = strategy === 'sort' ? 'none' : 'model';
  return { by, partition: SORT_PARTITIONS.find((each) => each === options.partition) ?? whole };
}

function readMaxPrice({ prompt, completion, request, image }: Readonly<JsonObject>): MaxPrice {
  return {
    prompt: toExact(prompt),
    completion: toExact(completion),
    request: toExact(request),
    image: toExact(image),
  };
}

function toExact(value: unknown): bigint | undefined {
  if (typeof value === 'string') return parsePrice(value);
  if (typeof value !== 'number') return undefined;
  // The shortest form equals the sent text; very small numbers have none without an exponent.
  return parsePrice(String(value)) ?? parsePrice(value.toFixed(PRICE_SCALE));
}

export function isRecovery(value: unknown): value is Recovery {
  return RECOVERIES.some((recovery) => recovery === value);
}

export function isMaxCostMode(value: unknown): value is MaxCostMode {
  return MAX_COST_MODES.some((mode) => mode === value);
}

function stringsOf(list: unknown): string[] | undefined {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : undefined;
}
