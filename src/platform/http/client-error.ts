import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { errorBody } from '../errors/error-body.js';
import type { RecordRefusal } from './refuse-request.js';

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

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

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
