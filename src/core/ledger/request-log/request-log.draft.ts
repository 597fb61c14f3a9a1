import type { TrafficMode } from '../../../canonical/billable-request.js';
import type { Usage, UsageSource } from '../../../canonical/usage.js';

/** How a request ended. `status` of the interface's log row is `success` for `completed` and `cancelled`. */
export type RequestOutcome = 'completed' | 'failed' | 'cancelled' | 'crashed' | 'refused';

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
}
