import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { errorBody } from '../errors/error-body.js';
import type { GatewayError } from '../errors/gateway-errors.js';
import { sendJson } from './send-json.js';

/** An answer that no middleware saw. */
export interface Refusal {
  requestId: string;
  error: GatewayError;
  /** Both undefined for what was no request. */
  method?: string | undefined;
  url?: string | undefined;
}

/** Writes the log line of a refusal and counts it. */
export type RecordRefusal = (refusal: Refusal) => void;

/**
 * Answers what is refused before any middleware, so that these callers get a request id and the
 * documented body as well, which Node's own answers lack.
 */
export function refuseRequest(
  response: ServerResponse,
  error: GatewayError,
  record: RecordRefusal,
  body: object = errorBody(error),
): void {
  const requestId = randomUUID();
  response.setHeader('x-request-id', requestId);
  response.setHeader('request-id', requestId);
  response.setHeader('connection', 'close');
  sendJson(response, error.status, body);
  const { method, url } = response.req;
  record({ requestId, error, method, url });
}
