import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { errorBody } from '../errors/error-body.js';
import type { GatewayError } from '../errors/gateway-errors.js';
import { sendJson } from './send-json.js';

/**
 * Answers what is refused before any middleware, so that these callers get a request id and the
 * documented body as well, which Node's own answers lack.
 */
export function refuseRequest(
  response: ServerResponse,
  error: GatewayError,
  body: object = errorBody(error),
): void {
  const requestId = randomUUID();
  response.setHeader('x-request-id', requestId);
  response.setHeader('request-id', requestId);
  response.setHeader('connection', 'close');
  sendJson(response, error.status, body);
}
