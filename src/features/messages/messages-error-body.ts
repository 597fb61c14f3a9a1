import { errorBody, type ErrorBody } from '../../platform/errors/error-response.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import { MESSAGES_BASES } from './messages.vendor.js';

/** The interface's error envelope as clients of this dialect read it. */
export interface MessagesErrorBody extends ErrorBody {
  type: 'error';
}

export function messagesErrorBody(error: GatewayError): MessagesErrorBody {
  return { type: 'error', ...errorBody(error) };
}

const PATHS = new RegExp(`^/(?:api/)?v1/(?:${MESSAGES_BASES.join('|')})(?:/|$)`, 'i');

/** Whether errors on this path are told in the dialect; paths that do not exist included. */
export function isMessagesPath(path: string): boolean {
  return PATHS.test(path);
}
