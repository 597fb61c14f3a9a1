export const RECOVERIES = ['off', 'continue', 'any'] as const;
/**
 * Which route may resume an answer that is interrupted after its first content: none, another route of
 * the same model, or also the chain's other models.
 */
export type Recovery = (typeof RECOVERIES)[number];

/** Criteria for ranking routes: cheapest, quickest to first content, or fastest output first. */
export const ROUTE_SORTS = ['price', 'latency', 'throughput'] as const;
/** Scope of a ranking: the routes of each model in the chain, or those of all its models. */
export const SORT_PARTITIONS = ['model', 'none'] as const;

export interface RouteSort {
  readonly by: (typeof ROUTE_SORTS)[number];
  readonly partition: (typeof SORT_PARTITIONS)[number];
}

/** Highest accepted unit prices, in 10^-18 USD; undefined: any price. */
export interface MaxPrice {
  /** Per million. */
  readonly prompt: bigint | undefined;
  /** Per million. */
  readonly completion: bigint | undefined;
  readonly request: bigint | undefined;
  readonly image: bigint | undefined;
}

export const MAX_COST_MODES = ['strict', 'fit'] as const;
/** How to treat routes that could cost more than `max_cost`: exclude them, or shorten the answer to fit. */
export type MaxCostMode = (typeof MAX_COST_MODES)[number];

/** Longest hedge delay that a caller may set, in milliseconds. */
export const MAX_HEDGE_MS = 60_000;

/** The caller's preferences for the routes of its request. */
export interface RoutingPreferences {
  readonly order: readonly string[];
  readonly only: readonly string[] | undefined;
  readonly ignore: readonly string[];
  readonly allowFallbacks: boolean;
  readonly strategy: 'fallback' | 'sort';
  readonly sort?: RouteSort | undefined;
  readonly maxPrice?: MaxPrice | undefined;
  readonly recovery?: Recovery | undefined;
  /** Maximum cost of the request, in credits. */
  readonly maxCost?: number | undefined;
  readonly maxCostMode?: MaxCostMode | undefined;
  /** Milliseconds without content before a second route is called; undefined: never. */
  readonly hedgeMs?: number | undefined;
}
