import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { CanonicalEvent, RouteEvent } from '../../canonical/canonical-event.js';
import { ownOutputLimitOf } from '../../canonical/output-limit.js';
import {
  GatewayError,
  InternalError,
  ServiceStopsError,
} from '../../platform/errors/gateway-errors.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { SERVICE_STOPS } from '../../platform/http/service-stop.js';
import { SseWriter } from '../../platform/http/sse-writer.js';

/** Spells an answer's events in one dialect; made anew for each stream. */
export interface StreamRenderer {
  /** The server-sent events for one canonical event, or nothing. */
  render(event: CanonicalEvent): Buffer | string | undefined;
  /** What follows a complete answer. */
  end(): Buffer | string;
  /** The dialect's last event when an answer that had begun fails. */
  error(error: GatewayError): string;
}

/**
 * Sends an answer as server-sent events. Nothing is written before the first rendered event, so
 * an answer that fails before it is an ordinary error response; later failures are told in-band.
 *
 * @throws GatewayError or CallerGoneError when nothing has been sent yet
 */
export async function deliverStream(
  response: ServerResponse,
  events: AsyncIterable<CanonicalEvent>,
  renderer: StreamRenderer,
): Promise<void> {
  const writer = new SseWriter(response);
  response.once(SERVICE_STOPS, () => writer.cut(renderer.error(new ServiceStopsError())));
  try {
    for await (const event of events) {
      if (event.type === 'route') setRouteHeaders(response, event);
      const bytes = renderer.render(event);
      if (bytes === undefined || bytes.length === 0) continue;
      const lagging = writer.write(bytes);
      if (lagging) await lagging;
    }
    await writer.write(renderer.end());
  } catch (error) {
    if (response.destroyed) return;
    if (!response.headersSent) throw error;
    if (error instanceof CallerGoneError) return;
    if (!(error instanceof GatewayError)) logger.error(error);
    await writer.write(renderer.error(error instanceof GatewayError ? error : new InternalError()));
  } finally {
    writer.end();
  }
}

const logger = new Logger('deliverStream');

/** Names the provider that answers, the gateway's own limit on the answer, and the request's fields that its dialect could not take. */
export function setRouteHeaders(
  response: ServerResponse,
  { route, droppedParams }: Pick<RouteEvent, 'route' | 'droppedParams'>,
): void {
  // After 15 s of silence the head has gone out already.
  if (response.headersSent) return;
  response.setHeader('X-Gateway-Provider', route.provider);
  const outputLimit = ownOutputLimitOf(route);
  if (outputLimit !== undefined) response.setHeader('X-Gateway-Output-Limit', outputLimit);
  setDroppedParams(response, droppedParams);
}

/** Names the request's fields that were left out, if there are any. */
export function setDroppedParams(response: ServerResponse, droppedParams: readonly string[]): void {
  if (droppedParams.length === 0) return;
  response.setHeader('X-Gateway-Dropped-Params', listParams(droppedParams));
}

/** Whether the answer is one that was given before, and if so the vendor's model that gave it. */
export function setCacheHeaders(
  response: ServerResponse,
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
