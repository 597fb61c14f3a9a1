import { randomUUID } from 'node:crypto';
import type { ServerResponse, IncomingMessage } from 'node:http';
import { errorBody } from '../errors/error-response.js';
import { InvalidRequestError, type GatewayError } from '../errors/gateway-errors.js';
import { NOSNIFF } from './standard-headers.js';
import { sendJson } from './send-body.js';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/**
 * So long a caller whose connection is being closed may go on sending, for its sake: a connection
 * that is cut while bytes arrive may lose the answer as well.
 */
const LINGER_MS = 1_000;

/** Connections that are being closed: what still comes over them is not looked at. */
const closing = new WeakSet<Socket>();

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
  response.setHeader(...NOSNIFF);
  response.setHeader('connection', 'close');
  if (error.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', String(error.retryAfterSeconds));
  }
  sendJson(response, error.status, body);
  const { method, url } = response.req;
  record({ requestId, error, method, url });
}

/**
 * Has the connection closed soon after the response that is about to be sent, however much the
 * caller has still to send and however slowly. Node itself would wait minutes for a body's end.
 */
export function closeAfterRefusal(
  request: Pick<IncomingMessage, 'socket' | 'complete'>,
  response: ServerResponse,
): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  const { socket } = request;
  // Over a whole request Node closes as it should.
  if (closing.has(socket)) return;
  closing.add(socket);
  if (request.complete) return;
  // What Node calls when the response has left. It would cut the connection at once.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

/** Whether a request came behind one that was refused with the end of their connection. */
export function isClosing(request: Pick<IncomingMessage, 'socket'>): boolean {
  return closing.has(request.socket);
}

/**
 * Answers what Node's HTTP parser could not make a request of (no handler ever sees it), so that
 * these callers get a request id and the documented body as well.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  record: RecordRefusal,
): void {
  const answer = (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage;
  if (answer?.req.complete && !answer.destroyed && error.code !== 'ECONNRESET') {
    // What is no request came behind one, whose answer is awaited.
    answer.shouldKeepAlive = false;
    answer.once('finish', () => socket.end(() => socket.destroy()));
    return;
  }
  if (!socket.writable || error.code === 'ECONNRESET' || answer?.headersSent) {
    socket.destroy();
    return;
  }
  const failure = describe(error);
  const body = JSON.stringify(errorBody(failure));
  const requestId = randomUUID();
  socket.end(
    [
      `HTTP/1.1 ${failure.status} ${REASONS[failure.status] ?? 'Bad Request'}`,
      `x-request-id: ${requestId}`,
      `request-id: ${requestId}`,
      NOSNIFF.join(': '),
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
    () => socket.destroy(),
  );
  record({ requestId, error: failure });
}

function describe(error: NodeJS.ErrnoException): InvalidRequestError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new InvalidRequestError('headers', 'The request headers are too large.', 431);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new InvalidRequestError('request', 'The request arrived too slowly.', 408);
    default:
      return new InvalidRequestError('request', 'The request is not valid HTTP.');
  }
}
