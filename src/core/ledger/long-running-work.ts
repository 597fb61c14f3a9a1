import type { RequestTags } from '../../canonical/request-tags.js';
import { NO_USAGE, type Usage, type UsageSource } from '../../canonical/usage.js';
import { billingNoteOf } from './draft-log-row.js';
import type { RequestLogDraft, RequestOutcome } from '../request-log/request-log-row.js';
import type { SettlementRecord } from './ledger-operations.js';
import type { LoggableAttempt } from './vendor-cost.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

/** Work whose hold was handed over by `LedgerService.transferHold`: it outlives the process. */
export interface LongRunningWork {
  /** The `x-request-id` of its submission; also the id of its hold. */
  readonly requestId: string;
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly endpoint: string;
  readonly startedAt: Date;
  readonly isFlagged: boolean;
  /** What became of the routes that were tried, in order. */
  readonly attempts?: readonly LoggableAttempt[];
  readonly endUser?: string | null;
  readonly tags?: RequestTags | null;
}

/** How long-running work ends. */
export interface LongRunningEnding {
  readonly outcome: RequestOutcome;
  /** The error body's `type`, on failures. */
  readonly errorType: string | null;
  /** The route that did the work, or was to do it. */
  readonly route: BillableRoute;
  /** What is charged; undefined: nothing. */
  readonly billed: { readonly usage: Usage; readonly source: UsageSource } | undefined;
  /** What a vendor used for nothing, where nothing is charged. */
  readonly wasted?: Usage | undefined;
  /** From the vendor's acceptance to the end. */
  readonly generationTimeMs: number;
  /** Moves the work's own row to its end, in the same transaction or not at all. */
  readonly record: SettlementRecord;
}

/** The log row of long-running work that has ended. */
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
