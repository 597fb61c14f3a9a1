import type { CancelSignal } from '../../canonical/cancel-signal.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { ownOutputLimitOf } from '../../canonical/billable-route.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import type { Timestamp } from '../../platform/time/timestamp.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { CallLimits, Upstream, UpstreamCall, WorkCall } from '../../vendors/upstream.js';
import type { Plan, PlannedRoute } from './plan.js';

/** Names the dropped caller headers, for vendors that receive any. */
export function droppedHeaders(
  { vendorHeaders }: CanonicalRequest,
  { trafficMode }: PlannedRoute,
  upstream: Upstream,
): readonly string[] {
  const passesAll = trafficMode === 'byok' && upstream.passesVendorHeaders;
  return passesAll ? [] : (vendorHeaders?.dropped ?? []);
}

/**
 * Returns the limits of a call that starts now, within the request's remaining time; undefined when
 * none is left.
 */
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
 * Builds the vendor call: the request, its output limit and its time limits.
 *
 * @param signal closes the call
 * @param request the plan's, or one for the rest of its answer
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

/** The gateway's limit is below the caller's, if both are set: it is what `max_cost` covers. */
function withOwnLimit(request: CanonicalRequest, limit: number | undefined): CanonicalRequest {
  const isReplaced = limit !== undefined && request.maxOutputTokens !== undefined;
  return isReplaced ? { ...request, maxOutputTokens: limit } : request;
}

/** Returns the rest of a limit after part of the answer. */
function lessSaid(
  tokens: number | undefined,
  { usedOutputTokens }: CanonicalRequest,
): number | undefined {
  return tokens && usedOutputTokens ? Math.max(1, tokens - usedOutputTokens) : tokens;
}

/** References to an account of one vendor mean nothing to another. */
function untranslatable(request: CanonicalRequest): CanonicalRequest {
  return {
    ...request,
    prompt: () => {
      const { param } = request.accountBoundParam!;
      throw new UpstreamError({
        failure: 'unsupported',
        message: `\`${param}\` is only supported by providers that use this API natively. Remove it, or choose such a provider.`,
        param,
      });
    },
  };
}

/** Builds the call for work other than text generation. */
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
