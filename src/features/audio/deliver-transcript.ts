import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import type { Transcript } from '../../canonical/work-request.js';
import { setRouteHeaders } from '../../core/answers/answer-headers.js';
import { gatewayErrorOf } from '../../platform/database/database-outage.js';
import { errorBody } from '../../platform/errors/error-response.js';
import { GatewayError, ServiceStopsError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { isStoppedByService } from '../../platform/http/server-drain.js';
import { SseWriter, sseOf } from '../../platform/http/sse-writer.js';

const logger = new Logger('deliverTranscript');

/**
 * Sends a transcript as server-sent events. Forwards the events of vendors that stream; turns a
 * whole transcript into one delta and the last event. Sends the last event after the commit.
 *
 * @throws GatewayError when nothing has been sent yet
 */
export async function deliverTranscript(
  response: ServerResponse,
  events: AsyncIterable<WorkEvent<Transcript>>,
): Promise<void> {
  const writer = new SseWriter(response);
  let last: string | Buffer = '';
  try {
    for await (const event of events) {
      if (event.type === 'route') setRouteHeaders(response, event);
      if (event.type !== 'output') continue;
      const { output } = event;
      if (output.isLast) last = output.bytes;
      else if (isEvent(output)) await writer.write(output.bytes);
      else {
        const { text, ...rest } = readWhole(output);
        await writer.write(sseOf({ type: 'transcript.text.delta', delta: text }));
        last = sseOf({ type: 'transcript.text.done', text, ...rest });
      }
    }
    await writer.write(last);
  } catch (error) {
    if (response.destroyed) return;
    if (!response.headersSent) throw error;
    const failure = failureToReport(response, error);
    if (!failure) return;
    await writer.write(sseOf({ type: 'error', ...errorBody(failure) }));
  } finally {
    writer.end();
  }
}

/** Returns the error to report in a started stream; undefined when the caller has disconnected. */
export function failureToReport(
  response: ServerResponse,
  error: unknown,
): GatewayError | undefined {
  if (error instanceof GatewayError) return error;
  if (error instanceof CallerGoneError) {
    return isStoppedByService(response) ? new ServiceStopsError() : undefined;
  }
  logger.error(error);
  return gatewayErrorOf(error);
}

function isEvent({ contentType }: Transcript): boolean {
  return contentType.startsWith('text/event-stream');
}

/** Reads a whole transcript, JSON or plain text, into the fields of the last event. */
function readWhole({ contentType, bytes }: Transcript): { text: unknown; usage?: unknown } {
  const body = bytes.toString('utf8');
  const parsed: unknown = contentType.startsWith('application/json') ? JSON.parse(body) : {};
  if (!isJsonObject(parsed) || parsed.text === undefined) return { text: body.trimEnd() };
  const { text, usage } = parsed;
  return { text, ...(usage !== undefined && { usage }) };
}
