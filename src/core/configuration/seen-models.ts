import type { Model } from '../catalogue/catalogue.types.js';
import { servesModel, type PoolMember } from '../routing/pool/pool-member.js';

/** Compares a provider's catalogue models with the list its vendor returns. */
export interface SeenModels {
  /** Catalogue routes over this account. */
  readonly total: number;
  readonly seen: number;
  /** Ids of rows whose model is not listed, in catalogue order. */
  readonly missing: readonly string[];
}

/** Version suffix of a model name: `-2024-08-06`, `-20250929`, `-0709`, `-001`, `-latest`. */
const VERSION = /-(?:\d{4}-\d\d-\d\d|\d{3,8}|latest)$/;

/**
 * Returns which of a provider's catalogue models its vendor lists, by name or as a dated version.
 *
 * @param listed model ids as routes name them
 * @param account one of several, which may serve some models only
 */
export function seenOfCatalogue(
  models: readonly Model[],
  provider: string,
  listed: readonly string[],
  account: Pick<PoolMember, 'models'> = {},
): SeenModels {
  const names = new Set(listed.flatMap((id) => [id, id.replace(VERSION, '')]));
  const missing: string[] = [];
  let total = 0;
  for (const { id, catalogueId, routes } of models) {
    const route = routes.find((each) => each.provider === provider);
    if (!route || !servesModel(account, catalogueId)) continue;
    total++;
    const { upstreamModel } = route;
    if (!names.has(upstreamModel) && !names.has(upstreamModel.replace(VERSION, ''))) {
      missing.push(id);
    }
  }
  return { total, seen: total - missing.length, missing };
}
