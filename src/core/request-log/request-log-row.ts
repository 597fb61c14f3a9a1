import type { RequestOptions } from '../../canonical/request-options.js';
import type { RequestTags } from '../../canonical/request-tags.js';
import type { UsageSource, Usage } from '../../canonical/usage.js';
import type { BillableRoute, TrafficMode } from '../../canonical/billable-route.js';

export const REQUEST_STATUSES = ['success', 'error'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** A request as its log has it. Money is credits, times are milliseconds. */
export interface RequestLogRow {
  id: string;
  requestId: string;
  apiKeyId: string;
  endpoint: string;
  /** The alias that answered, or the first one asked for when none did. */
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
  /** What was charged: the sum of the four parts that follow. */
  cost: number;
  modelCharge: number;
  byokPlatformFee: number;
  managedToolFee: number;
  agentRuntimeFee: number;
  billingNote: string | null;
  streamed: boolean;
  latencyMs: number;
  generationTimeMs: number;
  /** From the arrival of the request to its first content; null when none came, and in old rows. */
  firstTokenMs: number | null;
  /** What vendors took for it, at the prices of the routes, in credits; null in old rows. */
  vendorCost: number | null;
  /** In order; without any where no vendor was asked, and in old rows. */
  attempts: readonly LoggedAttempt[];
  endUser: string | null;
  /** The version of the configuration by which it was priced; null in rows of before, and where none was. */
  configVersion: number | null;
  tags: RequestTags | null;
  createdAt: Date;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
  /** What of the charge the operator bears, beside `cost`. */
  shortfall: number;
  /** Id of the prices it was charged at; null: nothing was charged, or it was before prices were kept. */
  priceSheet: string | null;
  /** What else it used, as JSON of counts that are not 0 (`OtherUsage`), with what was `asked`; null: nothing. */
  otherUsage: string | null;
}

export interface KeyScope {
  type: 'key';
  api_key_id: string;
}

export function keyScope(api_key_id: string): KeyScope {
  return { type: 'key', api_key_id };
}

/** What became of one call to a vendor, as the log has it. */
export interface LoggedAttempt {
  /** Provider and alias, as `azure/openai/gpt-4o`. */
  route: string;
  /** The id of the operator's account, where its provider has several. */
  account?: string;
  /** Key whose BYOK account served the request; absent for accounts of the tenant or the operator. */
  scope?: KeyScope;
  /** `answered`, `aborted`, `uncovered` (never called), or a failure, as `rate_limited`. */
  outcome: string;
  /** Of HTTP; null where there was none. */
  status: number | null;
  /** After the arrival of the request. */
  started_ms: number;
  /** To the end of the answer, or to the failure. */
  duration_ms: number;
  /** Where it goes on with an answer that broke off, in code points of its text; absent: it began. */
  continues_at?: number;
  /** Asked beside a route that was silent. */
  hedged?: true;
  /** Credits at the route's prices. */
  vendor_cost: number;
}

/** How a request ended. `status` of the interface's log row is `success` for `completed` and `cancelled`. */
export type RequestOutcome =
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'timeout'
  | 'crashed'
  | 'refused';

/** One request as the log keeps it; its money is decided by the settlement that commits it. */
export interface RequestLogDraft {
  requestId: string;
  tenantId: string;
  apiKeyId: string;
  endpoint: string;
  /** The alias that answered, or the first one asked for when none did. */
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
  /** Whether a guardrail with the action `flag` found something. */
  flagged?: boolean;
  /** From the arrival of the request to the end of its answer. */
  latencyMs: number;
  /** From the first content event to the end of the answer. */
  generationTimeMs: number;
  /** From the arrival to the first content, where there was any. */
  firstTokenMs?: number | undefined;
  /** Credits at the prices of the routes, charged or not. */
  vendorCost?: number;
  /** When the one vendor was called that answered, after the arrival; `attempts` is undefined then. */
  vendorStartedMs?: number | undefined;
  /** Where there was more to it than one vendor that answered. */
  attempts?: readonly LoggedAttempt[] | undefined;
  endUser?: string | undefined;
  tags?: RequestTags | undefined;
  /** What its caller asked for beyond a model; undefined: nothing. */
  asked?: RequestOptions | undefined;
  createdAt: Date;
  /** The version of the configuration whose prices its route had; null: a file of one instance had them. */
  configVersion?: number | null | undefined;
  /** By whose prices it was charged; undefined: nothing was charged. */
  billedBy?: PricesUsed | undefined;
  /** Credits of its charge that the tenant pays at most; undefined: all. What is above is a shortfall. Not kept. */
  maxCost?: number | undefined;
}

/** The prices of a route; a route is one. */
export type PricesUsed = Pick<BillableRoute, 'pricing' | 'byokFeePercent'> & {
  /** The service tier, the region, or both, whose prices they are; undefined: the ordinary ones. */
  readonly servedAs?: string | undefined;
};
