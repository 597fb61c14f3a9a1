import type { IncomingMessage, ServerResponse } from 'node:http';
import { NotFoundError } from '../platform/errors/gateway-errors.js';
import { refuseRequest, type RecordRefusal } from '../platform/http/refuse-request.js';

const OPERATIONS = new Set(['/healthz', '/readyz', '/metrics']);

/** In a process that only works in the background: all else is for the gateways to answer. */
export function operationsOnlyMiddleware(record: RecordRefusal) {
  return ({ url = '' }: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const [path = ''] = url.split('?', 1);
    if (OPERATIONS.has(path)) next();
    else {
      const error = new NotFoundError('path', 'This is a worker; ask a gateway.');
      refuseRequest(response, error, record);
    }
  };
}
