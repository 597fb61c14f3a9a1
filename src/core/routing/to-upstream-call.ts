import type { CancelSignal } from '../../canonical/cancel-signal.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { ownOutputLimitOf } from '../../canonical/billable-route.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import type { Timestamp } from '../../platform/time/timestamp.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { CallLimits, Upstream, UpstreamCall, WorkCall } from '../../vendors/upstream.js';
import type { Plan, PlannedRoute } from './plan.js';

/** What of a caller's headers is named as dropped; a vendor that never gets any is no loss. */
export function droppedHeaders(
  { vendorHeaders }: CanonicalRequest,
  { trafficMode }: PlannedRoute,
  upstream: Upstream,
): readonly string[] {
  const passesAll = trafficMode === 'byok' && upstream.passesVendorHeaders;
  return passesAll ? [] : (vendorHeaders?.dropped ?? []);
}

/** The limits of a call that begins now: it may take what is left of the request's time; undefined: none. */
export function limitsLeft(
  plan: Plan<RoutableRequest>,
  { limits }: PlannedRoute,
  now: Timestamp,
): CallLimits | undefined {
  const requestMs = limits.requestMs - now.msSince(plan.startedAt);
  if (requestMs <= 0) return undefined;
  return { firstByteMs: limits.firstByteMs, idleMs: limits.idleMs, requestMs };
}

/**
 * What the vendor of a route is asked: the request, how far its answer may go, and how long it may take.
 *
 * @param signal closes the call
 * @param request the plan's, or one that asks for the rest of its answer
 */
export function toTextCall(
  { request: planned, vendorSignal }: Plan,
  route: PlannedRoute,
  limits: CallLimits,
  signal: CancelSignal = vendorSignal,
  request = planned,
): UpstreamCall {
  const ownOutputLimit = lessSaid(ownOutputLimitOf(route), request);
  const told = withOwnLimit(request, ownOutputLimit);
  return {
    request: told.accountBoundParam ? untranslatable(told) : told,
    alias: route.model,
    upstreamModel: route.upstreamModel,
    limits,
    signal,
    maxOutputTokens: lessSaid(route.output?.tokens, request) ?? 0,
    ownOutputLimit,
    vendorHeaders: request.vendorHeaders?.[route.trafficMode === 'byok' ? 'own' : 'shared'],
  };
}

/** The gateway's own limit stands below a caller's, where there are both: it is what `max_cost` pays for. */
function withOwnLimit(request: CanonicalRequest, limit: number | undefined): CanonicalRequest {
  const isReplaced = limit !== undefined && request.maxOutputTokens !== undefined;
  return isReplaced ? { ...request, maxOutputTokens: limit } : request;
}

/** What is left of a limit for an answer of which a part is there. */
function lessSaid(
  tokens: number | undefined,
  { saidTokens }: CanonicalRequest,
): number | undefined {
  return tokens && saidTokens ? Math.max(1, tokens - saidTokens) : tokens;
}

/** What names a thing in an account of one vendor means nothing in the words of another. */
function untranslatable(request: CanonicalRequest): CanonicalRequest {
  return {
    ...request,
    prompt: () => {
      const { param } = request.accountBoundParam!;
      throw new UpstreamError({
        failure: 'unsupported',
        message: `\`${param}\` is only understood by providers that speak this dialect themselves.`,
        param,
      });
    },
  };
}

/** The same for work that is no text. */
export function toCall<Request extends RoutableRequest>(
  plan: Plan<Request>,
  route: PlannedRoute,
  limits: CallLimits,
  signal: CancelSignal,
): WorkCall<Request> {
  return {
    request: plan.request,
    alias: route.model,
    upstreamModel: route.upstreamModel,
    limits,
    signal,
  };
}
