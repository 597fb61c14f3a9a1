import type { CanonicalEvent } from '../canonical/canonical-event.js';
import type { CanonicalRequest } from '../canonical/canonical-request.js';

/** Time limits of one call, in milliseconds. */
export interface CallLimits {
  /** From the call to the vendor's first byte. */
  firstByteMs: number;
  /** Between two pieces of an answer. */
  idleMs: number;
  /** From the call to the answer's end. */
  requestMs: number;
}

/** One call to a vendor: the request, and what this route makes of it. */
export interface UpstreamCall {
  readonly request: CanonicalRequest;
  /** The alias this route answers for; what the answer must call its model. */
  readonly alias: string;
  /** The vendor's own model id. */
  readonly upstreamModel: string;
  readonly limits: CallLimits;
  /** Output tokens of one choice that credits were set aside for; the limit where a vendor needs one. */
  readonly maxOutputTokens: number;
  /** Aborted when nobody waits for the answer any more; the vendor's connection is closed at once. */
  readonly signal: AbortSignal;
}

/**
 * A vendor, as routing sees it. One instance per configured provider.
 */
export interface Upstream {
  /**
   * Request fields that this vendor's dialect, or the model behind it, has no place for, for
   * `X-Gateway-Dropped-Params`.
   */
  droppedParams(request: CanonicalRequest, upstreamModel: string): readonly string[];

  /**
   * Calls the vendor and yields its answer. Nothing is sent before the first pull; leaving the
   * iteration early closes the connection. Ends normally only after a complete answer.
   *
   * @throws UpstreamError for every failure, before or in the middle of the answer
   */
  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent>;

  /**
   * One cheap authenticated call that shows whether the vendor answers; its duration is the latency.
   *
   * @throws UpstreamError when it does not
   */
  probe(call: ProbeCall): Promise<void>;
}

export interface ProbeCall {
  readonly limits: CallLimits;
  readonly signal: AbortSignal;
}
