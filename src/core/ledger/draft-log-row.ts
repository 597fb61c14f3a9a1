import type { Caller } from '../access/caller.js';
import type { BillableRequest } from '../../canonical/billable-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import {
  AnswerLimitError,
  AnswerWithheldError,
  GatewayError,
} from '../../platform/errors/gateway-errors.js';
import type { ObservedRequest } from '../../platform/metrics/gateway-metrics.js';
import { msSince } from '../../platform/time/timestamp.js';
import type { AnswerEnding } from './settled-answer.js';
import type { RequestLogDraft, RequestOutcome } from '../request-log/request-log-row.js';
import type { UsageMeter } from './usage-meter.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

/** The log row of a request that has ended, before it is known what was used. */
export function draftLogRow(
  caller: Caller,
  request: BillableRequest,
  meter: UsageMeter,
  outcome: RequestOutcome,
  failure: unknown,
): RequestLogDraft {
  const { firstContentMs, route } = meter;
  const latencyMs = msSince(request.startedAt);
  const generationTimeMs =
    firstContentMs === undefined ? 0 : Math.round(performance.now() - firstContentMs);
  const isFailed = outcome === 'failed' || outcome === 'timeout' || outcome === 'refused';
  return {
    requestId: request.requestId,
    tenantId: caller.tenantId,
    apiKeyId: caller.apiKeyId,
    endpoint: request.endpoint,
    model: route.model,
    provider: route.provider,
    outcome,
    errorType: isFailed ? errorTypeOf(failure) : null,
    finishReason: outcome === 'completed' ? (meter.finishReason ?? null) : null,
    trafficMode: route.trafficMode,
    usage: NO_USAGE,
    usageSource: 'none',
    // Nobody was asked on behalf of a request that was refused.
    billingNote: outcome === 'refused' ? null : billingNoteOf(route),
    streamed: request.streamed,
    flagged: request.isFlagged ?? false,
    latencyMs,
    generationTimeMs,
    firstTokenMs: firstContentMs === undefined ? undefined : latencyMs - generationTimeMs,
    vendorCost: 0,
    vendorStartedMs: undefined,
    attempts: undefined,
    endUser: request.endUser,
    tags: request.tags,
    asked: request.asked,
    createdAt: request.startedAt,
    configVersion: route.configVersion,
  };
}

/** What a log row says about who bills; null where it is the operator. */
export function billingNoteOf({ trafficMode, provider }: BillableRoute): string | null {
  if (trafficMode === 'shared') return null;
  return `The use of the model is billed by ${provider} to your own account there; only the platform fee is charged here.`;
}

function errorTypeOf(failure: unknown): string {
  return failure instanceof GatewayError ? failure.type : 'internal_error';
}

/** What the metrics are told of a request that has ended. */
export function measuresOf(
  log: RequestLogDraft,
  { route, firstContentMs }: Pick<UsageMeter, 'route' | 'firstContentMs'>,
  cost: number,
  shortfall: number,
): ObservedRequest {
  return {
    endpoint: log.endpoint,
    provider: log.provider,
    catalogueId: route.catalogueId,
    outcome: log.outcome,
    inputTokens: log.usage.inputTokens,
    cachedTokens: log.usage.cacheReadTokens,
    outputTokens: log.usage.outputTokens,
    cost,
    shortfall,
    latencyMs: log.latencyMs,
    firstContentMs: firstContentMs === undefined ? undefined : log.latencyMs - log.generationTimeMs,
  };
}

/** Whether we ended an answer that still had a caller, and nothing of which has reached that caller. */
function isUndelivered({ streamed }: BillableRequest, { firstContentMs }: UsageMeter): boolean {
  return !streamed || firstContentMs === undefined;
}

/** An answer that our time limit ended before the caller had anything of it is one that failed. */
export function outcomeOf(
  request: BillableRequest,
  meter: UsageMeter,
  { outcome }: AnswerEnding,
): AnswerEnding['outcome'] {
  return outcome === 'timeout' && isUndelivered(request, meter) ? 'failed' : outcome;
}

/** Who pays for what went wrong: only what a vendor made for a caller, by its own account, costs. */
export function isFree(
  request: BillableRequest,
  meter: UsageMeter,
  { outcome, failure }: AnswerEnding,
): boolean {
  if (failure instanceof AnswerLimitError) return isUndelivered(request, meter);
  // An answer that was kept from its caller has been made all the same.
  if (outcome === 'failed') return !(failure instanceof AnswerWithheldError);
  if (outcome !== 'cancelled') return false;
  if (!request.upstreamCalled) return true;
  return request.callerGone.isServiceStop === true && isUndelivered(request, meter);
}

/** Tells who observes the request that it has ended. */
export function tellObserver(
  { observer }: BillableRequest,
  log: RequestLogDraft,
  { firstContentMs }: UsageMeter,
  cost: number,
): void {
  if (!observer) return;
  const waitedMs = log.latencyMs - log.generationTimeMs;
  observer.ended({
    outcome: log.outcome,
    model: log.model,
    provider: log.provider,
    errorType: log.errorType,
    trafficMode: log.trafficMode,
    usage: log.usage,
    usageSource: log.usageSource,
    flagged: log.flagged ?? false,
    cost,
    firstContentMs: firstContentMs === undefined ? undefined : waitedMs,
  });
}
