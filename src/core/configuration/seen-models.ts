import type { Model } from '../catalogue/catalogue.types.js';
import { servesModel, type PoolMember } from '../routing/pool/pool-member.js';

/** How much of what the catalogue has of a provider the provider's own list of models has. */
export interface SeenModels {
  /** Routes of the catalogue over this account. */
  readonly total: number;
  readonly seen: number;
  /** Ids of the rows whose model is not listed, in the order of the catalogue. */
  readonly missing: readonly string[];
}

/** A version behind a name that stands for it: `-2024-08-06`, `-20250929`, `-0709`, `-001`, `-latest`. */
const VERSION = /-(?:\d{4}-\d\d-\d\d|\d{3,8}|latest)$/;

/**
 * Which of a provider's models in the catalogue its own list has, under their names or as a version of them.
 *
 * @param listed ids, as routes name models
 * @param account one of several, which may be for some models only
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
