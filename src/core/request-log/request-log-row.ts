import type { RequestOptions } from '../../canonical/request-options.js';
import type { RequestTags } from '../../canonical/request-tags.js';
import type { UsageSource, Usage } from '../../canonical/usage.js';
import type { BillableRoute, TrafficMode } from '../../canonical/billable-route.js';

export const REQUEST_STATUSES = ['success', 'error'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** A request in the log. Money in credits, times in ms. */
export interface RequestLogRow {
  id: string;
  requestId: string;
  apiKeyId: string;
  endpoint: string;
  /** The alias that answered, or the first one requested if none did. */
  model: string;
  provider: string;
  status: RequestStatus;
  outcome: RequestOutcome;
  errorType: string | null;
  finishReason: string | null;
  trafficMode: TrafficMode;
  promptTokens: number;
  completionTokens: number;
  usageSource: UsageSource;
  /** Credits charged: the sum of the next four fields. */
  cost: number;
  modelCharge: number;
  byokPlatformFee: number;
  managedToolFee: number;
  agentRuntimeFee: number;
  billingNote: string | null;
  streamed: boolean;
  latencyMs: number;
  generationTimeMs: number;
  /** From the request's arrival to its first content; null without content, and in old rows. */
  firstTokenMs: number | null;
  /** Vendor usage in credits at the routes' prices; null in old rows. */
  vendorCost: number | null;
  /** In order; empty when no vendor was called, and in old rows. */
  attempts: readonly LoggedAttempt[];
  endUser: string | null;
  /**
   * Configuration version of the prices; null in rows that predate versions, and for free requests.
   */
  configVersion: number | null;
  tags: RequestTags | null;
  createdAt: Date;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
  /** Part of the charge that the operator bears, not included in `cost`. */
  shortfall: number;
  /**
   * Id of the price snapshot; null when nothing was charged, and in rows that predate snapshots.
   */
  priceSheet: string | null;
  /** JSON of nonzero counts (`OtherUsage`) and the request options as `asked`; null when empty. */
  otherUsage: string | null;
}

export interface KeyScope {
  type: 'key';
  api_key_id: string;
}

export function keyScope(api_key_id: string): KeyScope {
  return { type: 'key', api_key_id };
}

/** A call to a vendor, with its outcome, as logged. */
export interface LoggedAttempt {
  /** Provider and alias, such as `azure/openai/gpt-4o`. */
  route: string;
  /** Id of the operator's account, if its provider has several. */
  account?: string;
  /** Key whose BYOK account served the request; absent for accounts of the tenant or the operator. */
  scope?: KeyScope;
  /** `answered`, `aborted`, `uncovered` (never called), or a failure, as `rate_limited`. */
  outcome: string;
  /** HTTP status; null without a response. */
  status: number | null;
  /** Since the request's arrival. */
  started_ms: number;
  /** To the end of the answer, or to the failure. */
  duration_ms: number;
  /** Where a recovery attempt continues, in code points of the text; absent for the first part. */
  continues_at?: number;
  /** Started because another route stayed silent. */
  hedged?: true;
  /** Credits at the route's prices. */
  vendor_cost: number;
}

/**
 * How a request ended. `status` of the public log row is `success` for `completed` and `cancelled`.
 */
export type RequestOutcome =
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'timeout'
  | 'crashed'
  | 'refused';

/** A request to log; the settlement that commits it decides its charge. */
export interface RequestLogDraft {
  requestId: string;
  tenantId: string;
  apiKeyId: string;
  endpoint: string;
  /** The alias that answered, or the first one requested if none did. */
  model: string;
  provider: string;
  outcome: RequestOutcome;
  /** The error body's `type`, on failures. */
  errorType: string | null;
  finishReason: string | null;
  trafficMode: TrafficMode;
  usage: Usage;
  usageSource: UsageSource;
  billingNote: string | null;
  streamed: boolean;
  /** True when a guardrail with the action `flag` matched. */
  flagged?: boolean;
  /** From the request's arrival to the end of its answer. */
  latencyMs: number;
  /** From the first content to the end of the answer. */
  generationTimeMs: number;
  /** From the request's arrival to the first content, if any. */
  firstTokenMs?: number | undefined;
  /** Vendor usage in credits at the routes' prices, charged or not. */
  vendorCost?: number;
  /**
   * Start of the call, since arrival, if a single vendor was called and answered; `attempts` is
   * undefined then.
   */
  vendorStartedMs?: number | undefined;
  /** Set unless a single vendor was called and answered. */
  attempts?: readonly LoggedAttempt[] | undefined;
  endUser?: string | undefined;
  tags?: RequestTags | undefined;
  /** Request options besides the model; undefined without any. */
  requestOptions?: RequestOptions | undefined;
  createdAt: Date;
  /** Configuration version of the route's prices; null for prices from one instance's file. */
  configVersion?: number | null | undefined;
  /** Prices of the charge; undefined when nothing was charged. */
  billedBy?: PricesUsed | undefined;
  /**
   * Most credits that the tenant pays; undefined for no limit. The excess is a shortfall. Not
   * stored.
   */
  maxCost?: number | undefined;
}

/** Prices of a route; implemented by routes. */
export type PricesUsed = Pick<BillableRoute, 'pricing' | 'byokFeePercent'> & {
  /** Service tier, region, or both, of the prices; undefined for the ordinary ones. */
  readonly servedAs?: string | undefined;
};
