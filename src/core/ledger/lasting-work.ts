import type { BillableRoute } from '../../canonical/billable-request.js';
import type { Usage, UsageSource } from '../../canonical/usage.js';
import type { RequestOutcome } from './request-log/request-log-row.js';
import type { SettlementRecord } from './ledger-operations.js';

/** Work whose hold was handed over by `LedgerService.entrust`: it outlives the process. */
export interface LastingWork {
  /** The `x-request-id` of its submission; also the id of its hold. */
  readonly requestId: string;
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly endpoint: string;
  readonly startedAt: Date;
  readonly isFlagged: boolean;
}

/** How lasting work ends. */
export interface LastingEnding {
  readonly outcome: RequestOutcome;
  /** The error body's `type`, on failures. */
  readonly errorType: string | null;
  /** The route that did the work, or was to do it. */
  readonly route: BillableRoute;
  /** What is charged; undefined: nothing. */
  readonly billed: { readonly usage: Usage; readonly source: UsageSource } | undefined;
  /** From the vendor's acceptance to the end. */
  readonly generationTimeMs: number;
  /** Moves the work's own row to its end, in the same transaction or not at all. */
  readonly record: SettlementRecord;
}
