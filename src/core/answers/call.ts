import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  Canceller,
  type CancelSignal,
  type CallerGoneSignal,
} from '../../canonical/cancel-signal.js';
import type { Caller } from '../access/caller.js';
import { callerOf, type GatewayRequest } from '../access/gateway-request.js';
import { waitedForReaderMs } from '../../platform/http/drained.js';
import { SERVICE_STOPS } from '../../platform/http/server-drain.js';

class CallerGone extends Canceller implements CallerGoneSignal {
  isServiceStop = false;

  constructor(private readonly response: ServerResponse) {
    super(response.destroyed);
    response.once('close', () => {
      if (!response.writableFinished) this.abort();
    });
    response.once(SERVICE_STOPS, () => {
      if (!this.aborted) this.isServiceStop = true;
      this.abort();
    });
  }

  get readerLagMs(): number {
    return waitedForReaderMs(this.response);
  }
}

/** The part of a response that a call needs before its answer. */
type ResponseHead = Pick<
  ServerResponse,
  'headersSent' | 'setHeader' | 'getHeader' | 'once' | 'closed'
>;

/** A call to the service: its caller and its origin. The body is unread. */
export interface Call {
  readonly caller: Caller;
  /** The value of `x-request-id`. */
  readonly requestId: string;
  readonly receivedAt: Date;
  readonly headers: IncomingHttpHeaders;
  /** Read it once, with `readJsonBody` or as a form. */
  readonly body: IncomingMessage;
  readonly head: ResponseHead;
  readonly callerGone: CancelSignal;
  /** Ends the answer if necessary; the creator of the call runs it afterwards. */
  endAnswer?: () => Promise<unknown>;
}

/** Returns the call of an authenticated HTTP request. */
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

/**
 * Returns a signal that fires when the caller's connection closes before the answer is finished, or
 * the service is about to close it.
 */
export function callerGoneSignal(response: ServerResponse): CallerGoneSignal {
  return new CallerGone(response);
}
