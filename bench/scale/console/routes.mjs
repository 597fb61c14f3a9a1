import { CatalogueService } from '../../../dist/src/core/catalogue/catalogue.service.js';
import { priceSnapshotOf } from '../../../dist/src/core/ledger/receipts/price-snapshot.js';

/** Requests of the seeded tenants: alias, endpoint, share, ms to the first token and per token. */
const ASKED_FOR = [
  ['openai/gpt-4o-mini', 'chat', 24, 380, 9],
  ['anthropic/claude-haiku-5-5', 'messages', 17, 450, 8],
  ['anthropic/claude-sonnet-5-5', 'messages', 15, 780, 16],
  ['openai/gpt-6-luna', 'responses', 11, 520, 11],
  ['openai/text-embedding-3-small', 'embeddings', 10, 120, 0],
  ['openai/gpt-6.1-sol', 'responses', 8, 1_400, 21],
  ['openai/gpt-4.1-mini', 'chat', 6, 420, 10],
  ['anthropic/claude-opus-5-5', 'messages', 4, 1_900, 27],
  ['openai/gpt-5-mini', 'chat', 3, 900, 13],
  ['openai/gpt-4o', 'chat', 2, 610, 14],
];
/** Share of requests that a model's second route answers. */
const FALLBACK_SHARE = 0.06;
/** Default of `GATEWAY_BYOK_FEE_PERCENT`. */
export const BYOK_FEE_PERCENT = 5;

/**
 * Returns the routes that answer, with the catalogue's prices, so that every cost can be recomputed.
 *
 * @returns rows for the table `seed_routes`, and the price snapshots that they name
 */
export function seededRoutes() {
  const catalogue = new CatalogueService({ catalogueFile: undefined });
  const sheets = new Map();
  const rows = ASKED_FOR.flatMap(([alias, endpoint, share, baseMs, tokenMs]) => {
    const { routes } = catalogue.find(alias);
    const [first, second] = routes;
    const weights = second ? [share * (1 - FALLBACK_SHARE), share * FALLBACK_SHARE] : [share];
    return weights.map((weight, index) => {
      const { provider, pricing } = routes[index];
      const shared = priceSnapshotOf({ pricing });
      const own = priceSnapshotOf({ pricing, byokFeePercent: BYOK_FEE_PERCENT });
      for (const { id, json } of [shared, own]) sheets.set(id, json);
      return {
        ...{ weight, model: alias, endpoint, provider, base_ms: baseMs, token_ms: tokenMs },
        asked_first: index > 0 ? first.provider : null,
        prompt: String(pricing.prompt),
        cache_read: String(pricing.cacheRead),
        completion: String(pricing.completion),
        sheet: shared.id,
        own_sheet: own.id,
      };
    });
  });
  return { rows: rows.map((row, index) => ({ n: index + 1, ...row })), sheets };
}

/** Splits 0 to 1 by weights and returns the lower bounds, for `width_bucket`. */
export function lowerEnds(weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  return weights.map((weight) => {
    const end = before / total;
    before += weight;
    return end;
  });
}
