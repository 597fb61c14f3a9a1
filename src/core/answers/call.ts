import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import type { Caller } from '../access/caller.js';
import { callerOf } from '../access/current-caller.decorator.js';
import type { GatewayRequest } from '../access/gateway-request.js';
import { callerGoneSignal } from './caller-gone.js';

/** The part of a response that belongs to its call before there is an answer. */
export type ResponseHead = Pick<
  ServerResponse,
  'headersSent' | 'setHeader' | 'getHeader' | 'once' | 'closed'
>;

/** One call to the service: who makes it, and where it came from. Its body has not been read. */
export interface Call {
  readonly caller: Caller;
  /** The `x-request-id`. */
  readonly requestId: string;
  readonly receivedAt: Date;
  readonly headers: IncomingHttpHeaders;
  /** To be read once, by `readJsonBody` or as a form. */
  readonly body: IncomingMessage;
  readonly head: ResponseHead;
  readonly callerGone: CancelSignal;
}

export function callOf(received: GatewayRequest, response: ServerResponse): Call {
  return {
    caller: callerOf(received),
    requestId: received.requestId,
    receivedAt: received.receivedAt,
    headers: received.headers,
    body: received,
    head: response,
    callerGone: callerGoneSignal(response),
  };
}
