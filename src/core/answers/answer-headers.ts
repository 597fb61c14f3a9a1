import type { ServerResponse } from 'node:http';
import type { RouteEvent } from '../../canonical/canonical-event.js';
import { ownOutputLimitOf } from '../../canonical/billable-route.js';

/** Where the headers of an answer go. */
type Head = Pick<ServerResponse, 'headersSent' | 'setHeader'>;

/** Names the provider that answers, the gateway's own limit on the answer, and the fields that its dialect could not take. */
export function setRouteHeaders(
  response: Head,
  { route, droppedParams }: Pick<RouteEvent, 'route' | 'droppedParams'>,
): void {
  // After 15 s of silence the head has gone out already.
  if (response.headersSent) return;
  setProviderHeader(response, route.provider);
  const outputLimit = ownOutputLimitOf(route);
  if (outputLimit !== undefined) response.setHeader('X-Gateway-Output-Limit', outputLimit);
  setDroppedParams(response, droppedParams);
}

/** Names the provider that answers, or had a part in what nobody pays for. */
export function setProviderHeader(response: Head, provider: string): void {
  response.setHeader('X-Gateway-Provider', provider);
}

/** Names the request's fields that were left out, if there are any. */
export function setDroppedParams(response: Head, droppedParams: readonly string[]): void {
  if (droppedParams.length === 0) return;
  response.setHeader('X-Gateway-Dropped-Params', listParams(droppedParams));
}

/** Whether the answer is one that was given before, and if so the vendor's model that gave it. */
export function setCacheHeaders(
  response: Head,
  kept: { readonly upstreamModel: string } | undefined,
): void {
  response.setHeader('X-Cache', kept ? 'HIT' : 'MISS');
  // A family's member is named by its caller, in any characters; a header takes few.
  if (kept) response.setHeader('X-Cache-Model', encodeName(kept.upstreamModel));
}

function encodeName(name: string): string {
  return name.replace(/[^\x21-\x7e]/g, '?');
}

/** Callers make names up, and neither any characters nor any length fits into a header. */
const MAX_PARAM_LENGTH = 100;
const MAX_PARAMS = 32;

function listParams(params: readonly string[]): string {
  const names = params
    .slice(0, MAX_PARAMS)
    .map((param) => param.slice(0, MAX_PARAM_LENGTH).replace(/[^\x21-\x2b\x2d-\x7e]/g, '?'));
  return params.length > MAX_PARAMS ? `${names.join(', ')}, ...` : names.join(', ');
}

/** Credits charged; not on streams, whose head leaves before the charge is known. */
export function setCostHeader(response: Head, cost: number): void {
  response.setHeader('X-Gateway-Cost', cost);
}

/** Names the guardrails that flagged the call. A stream's head may be out already. */
export function setFlaggedHeader(response: Head, guardrailIds: Iterable<string>): void {
  if (response.headersSent) return;
  response.setHeader('X-Guardrail-Flagged', [...guardrailIds].join(', '));
}
