import type { TrafficMode } from '../../../canonical/billable-request.js';
import type { UsageSource } from '../../../canonical/usage.js';
import type { RequestOutcome } from './request-log.draft.js';

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
}
