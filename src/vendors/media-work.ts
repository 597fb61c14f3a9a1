import type { CancelSignal } from '../canonical/cancel-signal.js';
import type { Usage } from '../canonical/usage.js';
import type { CallLimits } from './upstream.js';

/** Something that was made, to be read once. */
export interface MediaFile {
  /** As the vendor names it, or as its first bytes show. */
  readonly contentType: string;
  readonly bytes: AsyncIterable<Buffer>;
}

/** Where work at a vendor stands. */
export type MediaProgress = MediaRunning | MediaDone;

/** The vendor has accepted the work and goes on with it by itself. */
export interface MediaRunning {
  readonly state: 'running';
  /** The vendor's own name of the work; with it any process can go on asking. */
  readonly operation: string;
  /** How long the vendor wants to be left alone; undefined: the usual pace. */
  readonly pollAfterMs?: number;
}

export interface MediaDone {
  readonly state: 'done';
  /**
   * At least one; read in order, each once. Reading throws UpstreamError when a file breaks off. One
   * that is not to be read is left by `return()` of its iterator, which closes its connection.
   */
  readonly files: readonly MediaFile[];
  /**
   * What was used; undefined: the request's estimate counts. To be read after the files, since some
   * of it is measured as they pass.
   */
  readonly usage: Usage | undefined;
  /** `estimated` where the vendor did not say and it was measured here; absent: the vendor's own. */
  readonly usageSource?: 'estimated';
}

/** A question about work that a vendor has accepted. */
export interface OperationCall {
  readonly operation: string;
  /** The vendor's own model id. */
  readonly upstreamModel: string;
  readonly limits: CallLimits;
  readonly signal: CancelSignal;
}

/**
 * The vendor's verdict that work has failed for good, its filters' refusals of what was made among
 * them: not a failure to ask. The message is fit for the caller.
 */
export class MediaFailedError extends Error {
  constructor(
    /** The vendor's own code, `content_policy_violation` for a filter's refusal, or `provider_error`. */
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'MediaFailedError';
  }
}
