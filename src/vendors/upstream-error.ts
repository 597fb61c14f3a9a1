import { codeOf } from '../platform/errors/thrown.js';

/**
 * Why a call to a vendor failed. This class alone derives the consequences (retry, fallback,
 * blame); callers never infer them from a status.
 *
 * - `connect`: no connection was established (DNS, refused, TLS, connect timeout)
 * - `reset`: the connection was lost
 * - `timeout`: a time limit passed, or the vendor returned 408 or 504
 * - `rate_limited`: the vendor asks for less traffic
 * - `server`: the vendor's own failure (5xx, 409, overloaded)
 * - `operator`: the operator's vendor account is at fault (key, quota, missing deployment)
 * - `caller`: the request itself is invalid; no other route would accept it
 * - `unsupported`: this vendor does not support the request, though the next one may
 * - `context_length`: the prompt is too long for this model at any provider, though another model may fit
 * - `unreadable`: not a valid answer (bad JSON, wrong content type, empty)
 * - `cut`: the answer's stream ended without a finish reason
 * - `slow_reader`: the request timed out, or the vendor hung up, after waiting most of the time for the
 *   caller to read
 */
export type UpstreamFailure =
  | 'connect'
  | 'reset'
  | 'timeout'
  | 'rate_limited'
  | 'server'
  | 'operator'
  | 'caller'
  | 'context_length'
  | 'unsupported'
  | 'unreadable'
  | 'cut'
  | 'slow_reader';

/** `no`: the vendor is certainly not working on a failed call. `unknown`: it may be. */
export type Acceptance = 'no' | 'unknown';

/**
 * Statuses of a proxy in front of the vendor that lost track of the request; the vendor may have
 * accepted it.
 */
const LOST_STATUSES: ReadonlySet<number> = new Set([502, 504, 520, 524]);

/** Codes of undici and the system for connect timeouts. */
const CONNECT_TIMEOUTS: ReadonlySet<string | undefined> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);

/** Matches error codes of Node and its libraries, which contain no text from a vendor or a caller. */
const CODE = /^[A-Z][A-Z0-9_]{1,60}$/;

export interface UpstreamErrorFields {
  failure: UpstreamFailure;
  /**
   * Shown to the caller for `caller`, `context_length` and `unsupported`. Never logged, because vendors
   * quote the request in it.
   */
  message: string;
  status?: number;
  /** How long the vendor asks to wait. */
  retryAfterMs?: number;
  /** The request field that the vendor rejects. */
  param?: string;
  /** Only when the failure and the status do not determine it. */
  accepted?: Acceptance;
  /** The gateway's time limit for the request has passed, whatever the vendor was doing. */
  isRequestOver?: boolean;
  /** The answer exceeds the gateway's size limit. */
  isBeyondLimit?: boolean;
}

export class UpstreamError extends Error {
  readonly failure: UpstreamFailure;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly param: string | undefined;
  /**
   * Paid work may be sent to another vendor, or again, only after `no`: no connection was established,
   * nothing was sent, or the vendor refused. A lost connection, a timeout, an unreadable answer, and a
   * proxy's 502 or 504 leave it `unknown`.
   */
  readonly accepted: Acceptance;
  /** True when the gateway's request time limit ended the call, which is not the vendor's fault. */
  readonly isRequestOver: boolean;
  /** True when the gateway's size limit ended it. Callers can make any model write that much. */
  readonly isBeyondLimit: boolean;

  constructor(fields: UpstreamErrorFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.name = UpstreamError.name;
    this.failure = fields.failure;
    this.status = fields.status;
    this.retryAfterMs = fields.retryAfterMs;
    this.param = fields.param;
    this.accepted = fields.accepted ?? acceptanceOf(fields);
    this.isRequestOver = fields.isRequestOver ?? false;
    this.isBeyondLimit = fields.isBeyondLimit ?? false;
  }

  /** Returns the same failure with a secret that the vendor echoed redacted. */
  without(secret: string): UpstreamError {
    const hide = (text: string): string => text.replaceAll(secret, '[redacted]');
    const { failure, status, retryAfterMs, param, accepted, isRequestOver, isBeyondLimit } = this;
    return new UpstreamError(
      {
        failure,
        message: hide(this.message),
        accepted,
        isRequestOver,
        isBeyondLimit,
        ...(status !== undefined && { status }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(param !== undefined && { param: hide(param) }),
      },
      { cause: this.cause },
    );
  }

  /** Loggable summary: `connect, ECONNREFUSED` or `server, status 503`. */
  get summary(): string {
    const { failure, status, cause } = this;
    const code = codeOf(cause);
    const words: string[] = [failure];
    if (status !== undefined) words.push(`status ${status}`);
    if (code !== undefined && CODE.test(code)) words.push(code);
    return words.join(', ');
  }

  /** True when a time limit passed, including the connect timeout. */
  get isTimeout(): boolean {
    if (this.failure !== 'connect') return this.failure === 'timeout';
    return CONNECT_TIMEOUTS.has(codeOf(this.cause));
  }

  /** True when another route may succeed. */
  get allowsFallback(): boolean {
    return this.failure !== 'caller';
  }

  /** True when the same route should be retried at once. */
  get isRetryable(): boolean {
    if (this.failure === 'reset') return true;
    const { failure, status = 500, retryAfterMs } = this;
    return failure === 'server' && status >= 500 && retryAfterMs === undefined;
  }

  /** The health that the failure counts against: the whole provider, one of its models, or neither. */
  get countsAgainst(): 'provider' | 'model' | undefined {
    if (this.isBeyondLimit) return undefined;
    switch (this.failure) {
      case 'connect':
        return 'provider';
      case 'caller':
      case 'context_length':
      case 'unsupported':
      case 'slow_reader':
        return undefined;
      case 'reset':
      case 'timeout':
      case 'rate_limited':
      case 'server':
      case 'operator':
      case 'unreadable':
      case 'cut':
        return 'model';
    }
  }
}

function acceptanceOf({ failure, status }: UpstreamErrorFields): Acceptance {
  switch (failure) {
    case 'connect':
    case 'rate_limited':
    case 'operator':
    case 'caller':
    case 'unsupported':
    case 'context_length':
      return 'no';
    case 'server':
      return status === undefined || LOST_STATUSES.has(status) ? 'unknown' : 'no';
    case 'timeout':
      return status === 408 ? 'no' : 'unknown';
    case 'reset':
    case 'unreadable':
    case 'cut':
    case 'slow_reader':
      return 'unknown';
  }
}

/**
 * Creates the error for an invalid answer.
 *
 * @param message a description of the answer, for example `an answer without pictures`
 * @param status the status of the answer, when the failure should have it
 */
export function unreadable(message: string, status?: number): UpstreamError {
  return new UpstreamError({
    failure: 'unreadable',
    message,
    ...(status !== undefined && { status }),
  });
}

/** Creates the error for an answer beyond the size limit. Parameters as in `unreadable`. */
export function beyondLimit(message: string, status?: number): UpstreamError {
  return new UpstreamError({
    failure: 'unreadable',
    message,
    isBeyondLimit: true,
    ...(status !== undefined && { status }),
  });
}

/** Creates the error for a feature that this model does not support, though the next one may. */
export function unsupported(param: string, message: string): UpstreamError {
  return new UpstreamError({ failure: 'unsupported', param, message });
}
