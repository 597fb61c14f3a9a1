import { codeOf } from '../platform/errors/thrown.js';

/**
 * How a call to a vendor failed. What follows from it (try again, go on, whose fault) is decided
 * here, once, and never guessed again from a status further up.
 *
 * - `connect`: no connection came about (DNS, refused, TLS, connect time-out)
 * - `reset`: the connection broke
 * - `timeout`: a time limit passed, or the vendor said 408 or 504
 * - `rate_limited`: the vendor asks for less traffic
 * - `server`: the vendor's own failure (5xx, 409, overloaded)
 * - `operator`: our account with the vendor is at fault (key, quota, missing deployment)
 * - `caller`: the request itself is bad; no other route would take it
 * - `unsupported`: this vendor cannot do what the request asks for, though the next one may
 * - `context_length`: the prompt is too long for this model at any provider, though maybe not for the next
 * - `unreadable`: an answer that is none (bad JSON, wrong content type, empty)
 * - `cut`: the answer's stream ended without a finish reason
 * - `slow_reader`: the request's time is up, or the vendor hung up, after it had waited for most of
 *   the time for the caller to read on
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

/** Whether a vendor may work on what a failed call asked of it: surely not, or nobody can tell. */
export type Acceptance = 'no' | 'unknown';

/**
 * Statuses by which a machine in front of the vendor says that it lost sight of the request: what
 * stands behind it may have taken it.
 */
const LOST_STATUSES: ReadonlySet<number> = new Set([502, 504, 520, 524]);

/** How undici and the system say that no connection came about in time. */
const CONNECT_TIMEOUTS: ReadonlySet<string | undefined> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);

/** The codes of Node and its libraries, which hold no word of a vendor or a caller. */
const CODE = /^[A-Z][A-Z0-9_]{1,60}$/;

export interface UpstreamErrorFields {
  failure: UpstreamFailure;
  /**
   * For the caller where it is the caller's to see (`caller`, `context_length`, `unsupported`). Never
   * for our log: vendors repeat in it what they were sent.
   */
  message: string;
  status?: number;
  /** How long the vendor asks us to wait. */
  retryAfterMs?: number;
  /** The request field that the vendor names as bad. */
  param?: string;
  /** Only where the failure and the status do not tell. */
  accepted?: Acceptance;
  /** The time that we give a request is up, whatever the vendor was at. */
  isRequestOver?: boolean;
  /** It is more than is read here of any answer. */
  isBeyondLimit?: boolean;
}

export class UpstreamError extends Error {
  readonly failure: UpstreamFailure;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly param: string | undefined;
  /**
   * What cost money may be asked of another vendor, or again, only after `no`: no connection came
   * about, nothing was sent, or the vendor answered that it refuses. A broken connection, a time-out,
   * an answer that nobody can read, and a 502 or 504 of a machine in between leave it `unknown`.
   */
  readonly accepted: Acceptance;
  /** Whether our own limit of a request's time ended the call, which is no fault of the vendor's. */
  readonly isRequestOver: boolean;
  /** Whether a limit of ours on what is read ended it: a caller can have a model write as much. */
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

  /** The same failure without a secret that the vendor repeated in what it said. */
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

  /** What our log may tell of it: `connect, ECONNREFUSED` or `server, status 503`. */
  get summary(): string {
    const { failure, status, cause } = this;
    const code = codeOf(cause);
    const words: string[] = [failure];
    if (status !== undefined) words.push(`status ${status}`);
    if (code !== undefined && CODE.test(code)) words.push(code);
    return words.join(', ');
  }

  /** Whether a time limit passed, of an answer or of a connection that did not come about. */
  get isTimeout(): boolean {
    if (this.failure !== 'connect') return this.failure === 'timeout';
    return CONNECT_TIMEOUTS.has(codeOf(this.cause));
  }

  /** Whether another route may answer what this one could not. */
  get allowsFallback(): boolean {
    return this.failure !== 'caller';
  }

  /** Whether the same route deserves a second try at once. */
  get isRetryable(): boolean {
    if (this.failure === 'reset') return true;
    const { failure, status = 500, retryAfterMs } = this;
    return failure === 'server' && status >= 500 && retryAfterMs === undefined;
  }

  /** What the failure says about: the whole provider, one of its models, or neither. */
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
 * An answer that nobody can read.
 *
 * @param message what it is instead, as `an answer without pictures`
 * @param status with which the vendor answered, where the failure is to say so
 */
export function unreadable(message: string, status?: number): UpstreamError {
  return new UpstreamError({
    failure: 'unreadable',
    message,
    ...(status !== undefined && { status }),
  });
}

/** An answer that is more than is read here. The parameters are those of `unreadable`. */
export function beyondLimit(message: string, status?: number): UpstreamError {
  return new UpstreamError({
    failure: 'unreadable',
    message,
    isBeyondLimit: true,
    ...(status !== undefined && { status }),
  });
}

/** What this model cannot do, though the next one may. */
export function unsupported(param: string, message: string): UpstreamError {
  return new UpstreamError({ failure: 'unsupported', param, message });
}
