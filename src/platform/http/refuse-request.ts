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
 * How long a caller may keep sending while its connection closes: cutting a connection while bytes arrive may lose
 * the answer.
 */
const LINGER_MS = 1_000;

/** Closing connections, whose further input is ignored. */
const closing = new WeakSet<Socket>();

/** An answer given before any middleware. */
export interface Refusal {
  requestId: string;
  error: GatewayError;
  /** Undefined for input that is not a request; so is `url`. */
  method?: string | undefined;
  url?: string | undefined;
}

/** Logs and counts a rejection. */
export type RecordRefusal = (refusal: Refusal) => void;

/** Answers requests that are rejected before any middleware with a request id and the documented body, which Node's own answers lack. */
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
 * Closes the connection soon after the response that is about to be sent, whatever the caller still has to send. Node
 * itself would wait minutes for the end of a body.
 */
export function closeAfterRefusal(
  request: Pick<IncomingMessage, 'socket' | 'complete'>,
  response: ServerResponse,
): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  const { socket } = request;
  // Node closes properly after a complete request.
  if (closing.has(socket)) return;
  closing.add(socket);
  if (request.complete) return;
  // Node calls this when the response has left, and would cut the connection at once.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

/** Returns whether a request follows a rejected one on a closing connection. */
export function isClosing(request: Pick<IncomingMessage, 'socket'>): boolean {
  return closing.has(request.socket);
}

/** Answers input that Node's HTTP parser rejected with a request id and the documented body. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  record: RecordRefusal,
): void {
  const answer = (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage;
  if (answer?.req.complete && !answer.destroyed && error.code !== 'ECONNRESET') {
    // The bad input follows a request whose answer is pending.
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
