import type { PricedWork } from './exact-pricing.js';
import type { PriceOffer } from './served-prices.js';
import type { Usage } from './usage.js';

/** How a route is billed: the operator's vendor account, or the tenant's own. */
export type TrafficMode = 'shared' | 'byok';

/** The most that a request can use on a route, whatever a vendor reports; without a figure, no bound. */
export interface UsageBounds {
  /** Of one reading of all prompts. */
  readonly inputTokens?: number;
  /** Of all choices together. */
  readonly outputTokens?: number;
  /** 0 where the vendor was not asked to search. */
  readonly webSearches?: number;
  readonly videoSeconds?: number;
  /** Of audio that is made of text, in milliseconds. */
  readonly spokenAudioMs?: number | undefined;
  /** What the gateway measured of the audio that was sent, in milliseconds. */
  readonly measuredAudioMs?: number | undefined;
  /** The most that it can be, where a file's own word is all that was measured. */
  readonly longestAudioMs?: number | undefined;
}

/** What the ledger has to know of a route. */
export interface BillableRoute extends PricedWork {
  /** The alias that this route answers for, which is also the answer's `model`. */
  readonly model: string;
  readonly provider: string;
  /** The id of the operator's account that it goes over, where the provider has several. */
  readonly account?: string | undefined;
  /** The API key that alone has this BYOK account, with the keys below it; absent: the whole tenant has it. */
  readonly scopeKeyId?: string | undefined;
  /** The catalogue row behind the alias; of a family's members that of the family. */
  readonly catalogueId: string;
  /** The version of the configuration that has these prices; null: none has, a file of one instance does. */
  readonly configVersion?: number | null;
  readonly trafficMode: TrafficMode;
  /** What is charged over the tenant's own account, in percent of the price; of `byok` routes only. */
  readonly byokFeePercent?: number;
  /**
   * The most that the request can use on this route, which holds are computed from. Replaced when the hold
   * sets the output: it grows from the least to what the hold pays for.
   */
  ceiling: Usage;
  /** Of routes that generate text. */
  readonly output?: OutputLimit | undefined;
  /** What the vendor's figures are held against; undefined: they count as they are. */
  readonly bounds?: UsageBounds | undefined;
  /** Credits that the request is charged at most, by its caller's wish; undefined: what it comes to. */
  maxCost?: number | undefined;
  /** Other prices, one of which the vendor's answer may choose; `pricing` then covers what was asked for. */
  readonly offer?: PriceOffer | undefined;
}

/** How long an answer may get on one route. The hold decides, once it is known what is available. */
export interface OutputLimit {
  /** How many answers were asked for (`n`); all figures are for one of them. */
  readonly choices: number;
  /** Tokens that credits are set aside for in any case; the same as `most` where the caller named a limit. */
  least: number;
  /** The caller's limit, else the model's; less where `max_cost` pays for less. */
  most: number;
  /** Tokens that the context leaves beside the prompt, as far as can be told. */
  readonly fitting: number;
  /** What a vendor is told that has to be told a limit. */
  tokens: number;
  /** True when the credits do not reach for the model's longest answer, so that every vendor is told. */
  isShort: boolean;
  /** True where `max_cost` made `most` what it is, so that every vendor is told in any case. */
  isFitted?: boolean;
}

/** The limit that the gateway itself sets on a route's output, in tokens; undefined: none. */
export function ownOutputLimitOf({ output }: BillableRoute): number | undefined {
  return output?.isShort ? output.tokens : undefined;
}
