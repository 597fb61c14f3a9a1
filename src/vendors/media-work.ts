import type { Usage } from '../canonical/usage.js';

/** A generated file, to be read once. */
export interface MediaFile {
  /** As the vendor declares it, or as its first bytes show. */
  readonly contentType: string;
  readonly bytes: AsyncIterable<Buffer>;
}

/** Progress of work at a vendor. */
export type MediaProgress = MediaPending | MediaResult;

/** The vendor has accepted the work and is running it. */
export interface MediaPending {
  readonly state: 'running';
  /** The vendor's id for the work; any process can poll with it. */
  readonly operation: string;
  /** The vendor's requested poll delay; undefined: the default. */
  readonly pollAfterMs?: number;
}

export interface MediaResult {
  readonly state: 'done';
  /**
   * At least one; read in order, each once. Reading throws UpstreamError when a download is interrupted.
   * To skip a file, call `return()` on its iterator, which closes its connection.
   */
  readonly files: readonly MediaFile[];
  /**
   * Usage; undefined: the request's estimate counts. Read it after the files, because some of it is
   * measured while they stream.
   */
  readonly usage: Usage | undefined;
  /** `estimated` when the gateway measured the usage itself; undefined: reported by the vendor. */
  readonly usageSource?: 'estimated';
}

/**
 * Reports that work has failed for good, including content filters rejecting its result; a failure to
 * poll is an UpstreamError instead. The message is safe to show to the caller.
 */
export class MediaFailedError extends Error {
  constructor(
    /** The vendor's own code, `content_policy_violation` for a filtered result, or `provider_error`. */
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'MediaFailedError';
  }
}
