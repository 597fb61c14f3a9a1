import type { UsageSource, Usage } from '../../../canonical/usage.js';
import type { BillableRoute, TrafficMode } from '../../../canonical/billable-route.js';

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
  createdAt: Date;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
  /** What of the charge the operator bears, beside `cost`. */
  shortfall: number;
  /** Id of the prices it was charged at; null: nothing was charged, or it was before prices were kept. */
  priceSheet: string | null;
  /** What else it used, as JSON of counts that are not 0 (`OtherUsage`); null: nothing. */
  otherUsage: string | null;
}

/** How a request ended. `status` of the interface's log row is `success` for `completed` and `cancelled`. */
export type RequestOutcome =
  'completed' | 'failed' | 'cancelled' | 'timeout' | 'crashed' | 'refused';

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
  createdAt: Date;
  /** By whose prices it was charged; undefined: nothing was charged. */
  billedBy?: PricesUsed | undefined;
}

/** The prices of a route; a route is one. */
export type PricesUsed = Pick<BillableRoute, 'pricing' | 'byokFeePercent'>;
