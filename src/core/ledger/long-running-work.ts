import type { RequestTags } from '../../canonical/request-tags.js';
import { NO_USAGE, type Usage, type UsageSource } from '../../canonical/usage.js';
import { billingNoteOf } from './draft-log-row.js';
import type { RequestLogDraft, RequestOutcome } from '../request-log/request-log-row.js';
import type { SettlementRecord } from './ledger-operations.js';
import type { LoggableAttempt } from './vendor-cost.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

/** Work that outlives the process; its hold was transferred by `LedgerService.transferHold`. */
export interface LongRunningWork {
  /** The `x-request-id` of the submission; also the id of its hold. */
  readonly requestId: string;
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly endpoint: string;
  readonly startedAt: Date;
  readonly isFlagged: boolean;
  /** The routes tried, in order, with their outcomes. */
  readonly attempts?: readonly LoggableAttempt[];
  readonly endUser?: string | null;
  readonly tags?: RequestTags | null;
}

/** The end of long-running work. */
export interface LongRunningEnding {
  readonly outcome: RequestOutcome;
  /** The error body's `type`, on failures. */
  readonly errorType: string | null;
  /** The route that did the work, or was meant to. */
  readonly route: BillableRoute;
  /** Undefined: nothing is charged. */
  readonly billed: { readonly usage: Usage; readonly source: UsageSource } | undefined;
  /** Usage of a vendor that is not charged. */
  readonly wasted?: Usage | undefined;
  /** Milliseconds between the vendor's acceptance and the end. */
  readonly generationTimeMs: number;
  /** Updates the work's own row in the same transaction. */
  readonly record: SettlementRecord;
}

/** Returns the log row of finished long-running work. */
export function draftLongRunningRow(
  work: LongRunningWork,
  { route, outcome, errorType, generationTimeMs }: LongRunningEnding,
  billed: LongRunningEnding['billed'],
): RequestLogDraft {
  return {
    requestId: work.requestId,
    tenantId: work.tenantId,
    apiKeyId: work.apiKeyId,
    endpoint: work.endpoint,
    model: route.model,
    provider: route.provider,
    outcome,
    errorType,
    finishReason: outcome === 'completed' ? 'stop' : null,
    trafficMode: route.trafficMode,
    usage: billed?.usage ?? NO_USAGE,
    usageSource: billed?.source ?? 'none',
    billingNote: billingNoteOf(route),
    streamed: false,
    flagged: work.isFlagged,
    latencyMs: Date.now() - work.startedAt.getTime(),
    generationTimeMs,
    endUser: work.endUser ?? undefined,
    tags: work.tags ?? undefined,
    createdAt: work.startedAt,
    configVersion: route.configVersion,
    billedBy: billed && route,
    maxCost: route.maxCost,
  };
}
