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

/** Drafts the log row of a finished request, before its usage is known. */
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
    // Refused requests reach no vendor.
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
    requestOptions: request.requestOptions,
    createdAt: request.startedAt,
    configVersion: route.configVersion,
  };
}

/** Returns the log row's note about who bills the model; null for the operator. */
export function billingNoteOf({ trafficMode, provider }: BillableRoute): string | null {
  if (trafficMode === 'shared') return null;
  return `${provider} bills the model to your own account; the gateway charges only the platform fee.`;
}

function errorTypeOf(failure: unknown): string {
  return failure instanceof GatewayError ? failure.type : 'internal_error';
}

/** Returns the metrics of a finished request. */
export function toObservedRequest(
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

/** Returns whether nothing of an answer that the gateway ended has reached its caller. */
function isUndelivered({ streamed }: BillableRequest, { firstContentMs }: UsageMeter): boolean {
  return !streamed || firstContentMs === undefined;
}

/** Returns the outcome to log: a timeout before anything was delivered is a failure. */
export function outcomeOf(
  request: BillableRequest,
  meter: UsageMeter,
  { outcome }: AnswerEnding,
): AnswerEnding['outcome'] {
  return outcome === 'timeout' && isUndelivered(request, meter) ? 'failed' : outcome;
}

/** Returns whether a request is free. Only output that a vendor generated for the caller is charged. */
export function isFree(
  request: BillableRequest,
  meter: UsageMeter,
  { outcome, failure }: AnswerEnding,
): boolean {
  if (failure instanceof AnswerLimitError) return isUndelivered(request, meter);
  // Withheld answers were generated, so they are charged.
  if (outcome === 'failed') return !(failure instanceof AnswerWithheldError);
  if (outcome !== 'cancelled') return false;
  if (!request.upstreamCalled) return true;
  return request.callerGone.isServiceStop === true && isUndelivered(request, meter);
}

/** Notifies the request's observer of its end. */
export function notifyObserver(
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
