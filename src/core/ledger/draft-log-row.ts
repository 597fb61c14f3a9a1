import type { Caller } from '../access/caller.js';
import type { BillableRequest, BillableRoute } from '../../canonical/billable-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { GatewayError } from '../../platform/errors/gateway-errors.js';
import type { RequestLogDraft, RequestOutcome } from './request-log/request-log-row.js';
import type { UsageMeter } from './usage-meter.js';

/** The log row of a request that has ended, before it is known what was used. */
export function draftLogRow(
  caller: Caller,
  request: BillableRequest,
  meter: UsageMeter,
  outcome: RequestOutcome,
  failure: unknown,
): RequestLogDraft {
  const { firstContentMs, route } = meter;
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
    latencyMs: Date.now() - request.startedAt.getTime(),
    generationTimeMs:
      firstContentMs === undefined ? 0 : Math.round(performance.now() - firstContentMs),
    createdAt: request.startedAt,
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
