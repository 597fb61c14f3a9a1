import type { ServerResponse } from 'node:http';
import type { RouteEvent } from '../../canonical/canonical-event.js';
import { ownOutputLimitOf } from '../../canonical/billable-route.js';

type Head = Pick<ServerResponse, 'headersSent' | 'setHeader'>;

/**
 * Sets the headers of the answering provider, the gateway's own output limit, and dropped fields.
 */
export function setRouteHeaders(
  response: Head,
  { route, droppedParams }: Pick<RouteEvent, 'route' | 'droppedParams'>,
): void {
  // After 15 s of silence the head has been sent already.
  if (response.headersSent) return;
  setProviderHeader(response, route.provider);
  const outputLimit = ownOutputLimitOf(route);
  if (outputLimit !== undefined) response.setHeader('X-Gateway-Output-Limit', outputLimit);
  setDroppedParams(response, droppedParams);
}

/** Names the provider that answered, or took part in a free answer. */
export function setProviderHeader(response: Head, provider: string): void {
  response.setHeader('X-Gateway-Provider', provider);
}

/** Names the dropped request fields, if there are any. */
export function setDroppedParams(response: Head, droppedParams: readonly string[]): void {
  if (droppedParams.length === 0) return;
  response.setHeader('X-Gateway-Dropped-Params', listParams(droppedParams));
}

/** Reports a cache hit or miss, and on a hit the vendor's model that answered originally. */
export function setCacheHeaders(
  response: Head,
  kept: { readonly upstreamModel: string } | undefined,
): void {
  response.setHeader('X-Cache', kept ? 'HIT' : 'MISS');
  // Callers name members of model families in any characters; headers allow few.
  if (kept) response.setHeader('X-Cache-Model', encodeName(kept.upstreamModel));
}

function encodeName(name: string): string {
  return name.replace(/[^\x21-\x7e]/g, '?');
}

/** Callers choose names of any characters and length, which headers do not allow. */
const MAX_PARAM_LENGTH = 100;
const MAX_PARAMS = 32;

function listParams(params: readonly string[]): string {
  const names = params
    .slice(0, MAX_PARAMS)
    .map((param) => param.slice(0, MAX_PARAM_LENGTH).replace(/[^\x21-\x2b\x2d-\x7e]/g, '?'));
  return params.length > MAX_PARAMS ? `${names.join(', ')}, ...` : names.join(', ');
}

/** Sets the credits charged. Not on streams, whose head is sent before the charge is known. */
export function setCostHeader(response: Head, cost: number): void {
  response.setHeader('X-Gateway-Cost', cost);
}

/** Names the guardrails that flagged the call. No effect once a stream's head is sent. */
export function setFlaggedHeader(response: Head, guardrailIds: Iterable<string>): void {
  if (response.headersSent) return;
  response.setHeader('X-Guardrail-Flagged', [...guardrailIds].join(', '));
}
