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

const logger = new Logger('deliverAudio');

/**
 * Sends a transcript as server-sent events: those of a vendor that streams as they come, and of any
 * other one delta and the end. The end leaves after the commit.
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
    const told = failureToTell(response, error);
    if (!told) return;
    await writer.write(sseOf({ type: 'error', ...errorBody(told) }));
  } finally {
    writer.end();
  }
}

/** What a stream that had begun says at its end; undefined: nobody is there to hear it. */
export function failureToTell(response: ServerResponse, error: unknown): GatewayError | undefined {
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

/** A whole transcript, JSON or plain text, as the last event has it. */
function readWhole({ contentType, bytes }: Transcript): { text: unknown; usage?: unknown } {
  const spelled = bytes.toString('utf8');
  const parsed: unknown = contentType.startsWith('application/json') ? JSON.parse(spelled) : {};
  if (!isJsonObject(parsed) || parsed.text === undefined) return { text: spelled.trimEnd() };
  const { text, usage } = parsed;
  return { text, ...(usage !== undefined && { usage }) };
}
