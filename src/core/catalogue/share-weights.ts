import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/**
 * Adds routes between vendors that serve the same weights, as named by `weights`: each row's own
 * route first, then the cheapest, skipping those with a shorter context. This lets a vendor join a
 * chain with its own rows. Removes the name.
 */
export function shareWeights(rows: readonly JsonObject[]): JsonObject[] {
  const groups = new Map<unknown, JsonObject[]>();
  for (const row of rows) {
    if (row.weights === undefined) continue;
    const group = groups.get(row.weights);
    if (group) group.push(row);
    else groups.set(row.weights, [row]);
  }
  return rows.map(({ weights, ...row }) => {
    const others = (groups.get(weights) ?? [])
      .filter(({ id }) => id !== row.id)
      .filter((other) => numberOf(other.context_length) >= numberOf(row.context_length))
      .sort((one, other) => outputPriceOf(one) - outputPriceOf(other));
    if (others.length === 0) return row;
    const own = ownRoute(row);
    const behind = others.map((other, index) => ({
      ...ownTiers(other),
      ...ownRoute(other),
      priority: index + 1,
      pricing: wholePricing(other),
    }));
    return { ...row, routes: [own, ...behind] };
  });
}

/** Returns the row's default route to its own vendor. */
function ownRoute({ id, routes }: JsonObject): JsonObject {
  const first: unknown = Array.isArray(routes) ? routes[0] : undefined;
  if (isJsonObject(first)) return first;
  const [provider = '', ...model] = String(id).split('/');
  return { provider, model: model.join('/'), priority: 0 };
}

/** Returns the row's price tiers, for its route. */
function ownTiers({ long_prompts, service_tiers, regions, price_changes }: JsonObject): JsonObject {
  const tiers = { long_prompts, service_tiers, regions, price_changes };
  return Object.fromEntries(Object.entries(tiers).filter(([, value]) => value !== undefined));
}

/**
 * Fills in all prices, so that the other row's do not apply: units without a price cost as much as
 * their kind.
 */
function wholePricing({ pricing }: JsonObject): JsonObject {
  const own = isJsonObject(pricing) ? pricing : {};
  return { request: '0', input_cache_read: own.prompt, input_cache_write: own.prompt, ...own };
}

function outputPriceOf({ pricing }: JsonObject): number {
  return isJsonObject(pricing) ? numberOf(pricing.completion) : 0;
}

function numberOf(value: unknown): number {
  return Number(value ?? 0);
}
