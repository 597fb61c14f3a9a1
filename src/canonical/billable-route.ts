import type { PricedWork } from './exact-pricing.js';
import type { PriceOffer } from './served-prices.js';
import type { Usage } from './usage.js';

/** How a route is billed: the operator's vendor account, or the tenant's own. */
export type TrafficMode = 'shared' | 'byok';

/** Upper bounds on the usage of a request on a route, whatever a vendor reports; undefined: no bound. */
export interface UsageBounds {
  /** For all prompts, each read once. */
  readonly inputTokens?: number;
  /** For all choices together. */
  readonly outputTokens?: number;
  /** 0 when the vendor was not asked to search. */
  readonly webSearches?: number;
  readonly videoSeconds?: number;
  /** Milliseconds of audio to be generated from text. */
  readonly spokenAudioMs?: number | undefined;
  /** Milliseconds of uploaded audio, as the gateway measured it. */
  readonly measuredAudioMs?: number | undefined;
  /** Longest possible duration when the file's own metadata was all there was to measure. */
  readonly longestAudioMs?: number | undefined;
}

/** The ledger's view of a route. */
export interface BillableRoute extends PricedWork {
  /** The alias that this route serves, and the answer's `model`. */
  readonly model: string;
  readonly provider: string;
  /** The id of the operator's account, when the provider has several. */
  readonly account?: string | undefined;
  /** The API key that this BYOK account is limited to, with its child keys; undefined: the whole tenant. */
  readonly scopeKeyId?: string | undefined;
  /** The catalogue row of the alias; for members of a family, the family's row. */
  readonly catalogueId: string;
  /** The configuration version that defines these prices; null when they come from an instance's own file. */
  readonly configVersion?: number | null;
  readonly trafficMode: TrafficMode;
  /** Fee on BYOK traffic, in percent of the price; `byok` routes only. */
  readonly byokFeePercent?: number;
  /**
   * The most that the request can use on this route; holds are computed from it. Replaced when the hold
   * sizes the output: it grows from the minimum to what the hold covers.
   */
  ceiling: Usage;
  /** Set on routes that generate text. Replaced together with `ceiling`. */
  output?: OutputLimit | undefined;
  /** Bounds that cap the vendor's reported usage; undefined: usage counts as reported. */
  readonly bounds?: UsageBounds | undefined;
  /** The caller's cap on the charge, in credits; undefined: none. */
  maxCost?: number | undefined;
  /** Alternative prices that the vendor's answer may select; `pricing` then covers the requested ones. */
  readonly offer?: PriceOffer | undefined;
}

/** The worst-case usage of a route and its output limit. */
export type RouteSize = Pick<BillableRoute, 'ceiling' | 'output'>;

/** A route's size within the caller's cap on the charge. */
export type CostFit = RouteSize & Required<Pick<BillableRoute, 'maxCost'>>;

/** How long an answer may get on one route. The hold decides, once the available credits are known. */
export interface OutputLimit {
  /** Number of answers requested (`n`); all figures are per answer. */
  readonly choices: number;
  /** Minimum tokens that credits are reserved for; equals `most` when the caller set a limit. */
  readonly least: number;
  /** The caller's limit, or the model's without one; lower when `max_cost` pays for less. */
  readonly most: number;
  /** Tokens that the context window leaves after the prompt, as estimated. */
  readonly fitting: number;
  /** The limit sent to vendors that require one. */
  readonly tokens: number;
  /** True when the credits do not cover the model's longest answer; every vendor then gets a limit. */
  readonly isShort: boolean;
  /** True when `max_cost` lowered `most`; every vendor then gets a limit. */
  readonly isFitted?: boolean;
}

/** Returns the output limit that the gateway itself sets on a route, in tokens; undefined: none. */
export function ownOutputLimitOf({ output }: BillableRoute): number | undefined {
  return output?.isShort ? output.tokens : undefined;
}
