import type { CanonicalRequest } from '../canonical/canonical-request.js';
import type { RoutableRequest } from '../canonical/work-request.js';
import { UpstreamError } from '../upstream/upstream-error.js';
import type { Upstream, UpstreamCall, WorkCall } from '../upstream/upstream.js';
import type { Plan, PlannedRoute } from './plan.js';

/** Headers for the vendor of another dialect mean nothing to this one. */
export function droppedHeaders({ vendorHeaders }: CanonicalRequest, upstream: Upstream): string[] {
  if (!vendorHeaders || upstream.passesVendorHeaders) return [];
  return Object.keys(vendorHeaders);
}

/** A call may take what is left of the request's time. */
export function withinRequest(plan: Plan<RoutableRequest>, route: PlannedRoute): PlannedRoute {
  const elapsedMs = Date.now() - plan.startedAt.getTime();
  const requestMs = Math.max(1, route.limits.requestMs - elapsedMs);
  return { ...route, limits: { ...route.limits, requestMs } };
}

export function toTextCall(plan: Plan, route: PlannedRoute): UpstreamCall {
  const { request, callerGone } = plan;
  return {
    request: request.accountBoundParam ? untranslatable(request) : request,
    alias: route.model,
    upstreamModel: route.upstreamModel,
    limits: route.limits,
    signal: callerGone,
    maxOutputTokens: route.maxOutputTokens,
  };
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

export function toCall<Request extends RoutableRequest>(
  plan: Plan<Request>,
  route: PlannedRoute,
): WorkCall<Request> {
  return {
    request: plan.request,
    alias: route.model,
    upstreamModel: route.upstreamModel,
    limits: route.limits,
    signal: plan.callerGone,
  };
}
