import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import {
  GatewayError,
  InternalError,
  ServiceStopsError,
} from '../../platform/errors/gateway-errors.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { SERVICE_STOPS } from '../../platform/http/server-drain.js';
import { SseWriter } from '../../platform/http/sse-writer.js';
import { setRouteHeaders } from './answer-headers.js';

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
