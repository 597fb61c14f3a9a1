import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/**
 * Rows of several vendors that serve the same weights, which they name by `weights`, each with routes
 * to the others behind its own: the cheapest first, and none that takes a shorter prompt. So a vendor
 * joins a chain by its own rows. The name itself is left out.
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

/** To its own vendor, as a row that says nothing else means it. */
function ownRoute({ id, routes }: JsonObject): JsonObject {
  const first: unknown = Array.isArray(routes) ? routes[0] : undefined;
  if (isJsonObject(first)) return first;
  const [provider = '', ...model] = String(id).split('/');
  return { provider, model: model.join('/'), priority: 0 };
}

/** What the row says of prices beside them, which its route takes along. */
function ownTiers({ long_prompts, service_tiers, regions, price_changes }: JsonObject): JsonObject {
  const tiers = { long_prompts, service_tiers, regions, price_changes };
  return Object.fromEntries(Object.entries(tiers).filter(([, value]) => value !== undefined));
}

/** So that no price of another vendor's row holds: what has no price of its own costs as its kind does. */
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
