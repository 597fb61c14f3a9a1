export const RECOVERIES = ['off', 'continue', 'any'] as const;
/**
 * Who may go on with an answer that breaks off after its first content: nobody, another route of the
 * same model, or one of the chain's other models too.
 */
export type Recovery = (typeof RECOVERIES)[number];

/** By what routes may be ordered: the cheapest, the one that begins soonest, or the one that writes fastest first. */
export const ROUTE_SORTS = ['price', 'latency', 'throughput'] as const;
/** What is ordered together: the routes of each model of the chain, or those of all its models. */
export const SORT_PARTITIONS = ['model', 'none'] as const;

export interface RouteSort {
  readonly by: (typeof ROUTE_SORTS)[number];
  readonly partition: (typeof SORT_PARTITIONS)[number];
}

/** The most that units may cost, in 10^-18 USD; undefined: any price. */
export interface MaxPrice {
  /** Per million. */
  readonly prompt: bigint | undefined;
  /** Per million. */
  readonly completion: bigint | undefined;
  readonly request: bigint | undefined;
  readonly image: bigint | undefined;
}

export const MAX_COST_MODES = ['strict', 'fit'] as const;
/** What becomes of routes that could cost more than `max_cost`: left out, or given a shorter answer that fits. */
export type MaxCostMode = (typeof MAX_COST_MODES)[number];

/** The longest silence that a caller may name before a second route is asked. */
export const MAX_HEDGE_MS = 60_000;

/** What a caller wants of the routes that are tried for its request. */
export interface RoutingPreferences {
  readonly order: readonly string[];
  readonly only: readonly string[] | undefined;
  readonly ignore: readonly string[];
  readonly allowFallbacks: boolean;
  readonly strategy: 'fallback' | 'sort';
  readonly sort?: RouteSort | undefined;
  readonly maxPrice?: MaxPrice | undefined;
  readonly recovery?: Recovery | undefined;
  /** Credits, the most that the request may cost. */
  readonly maxCost?: number | undefined;
  readonly maxCostMode?: MaxCostMode | undefined;
  /** After so many milliseconds without content another route is asked as well; undefined: none. */
  readonly hedgeMs?: number | undefined;
}
