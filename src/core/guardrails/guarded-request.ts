import type { BillableRequest } from '../../canonical/billable-request.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import type { Caller } from '../access/caller.js';

/** A planned request, as far as guardrails are concerned; routing's plan is one. */
export interface GuardedRequest extends BillableRequest {
  /** Whether a guardrail has marked it; goes into its log row. */
  isFlagged: boolean;
  /** Code points of the answer that came from the vendor and have not been passed on. */
  withheldCharacters: number;
}

/** A guarded request that is text in one of the dialects. */
export interface GuardedTextRequest extends GuardedRequest {
  readonly request: CanonicalRequest;
}

/** Keeps a record of a request that was refused before it cost anything; the ledger is one. */
export interface RefusalLog {
  refuse(caller: Caller, request: BillableRequest, refusal: GatewayError): Promise<void>;
}

/** Where response headers go; Node's own response is one. */
export interface HeaderTarget {
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
}
