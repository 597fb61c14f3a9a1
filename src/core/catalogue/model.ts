import type { ExactPricing } from '../../canonical/exact-pricing.js';
import type { CatalogueModel, RouteTimeouts } from './catalogue.types.js';

/** A validated catalogue row with its prices made exact. */
export interface Model extends Omit<CatalogueModel, 'routes'> {
  /** The row's own id; for a member of a family the family's, which ends in `*`. */
  readonly catalogueId: string;
  /** By priority, the primary first. */
  readonly routes: readonly ModelRoute[];
}

export interface ModelRoute {
  readonly provider: string;
  /** The provider's own model id; of a family, with the caller's part already in place of the `*`. */
  readonly upstreamModel: string;
  readonly priority: number;
  readonly pricing: ExactPricing;
  readonly timeouts: RouteTimeouts;
}
