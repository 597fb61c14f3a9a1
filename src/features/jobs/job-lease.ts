import type { JobClaim, JobClaims } from './job-claims.repository.js';
import type { JobEndEvents } from './job-waiter.service.js';

const RENEWAL_MS = 4_000;

/** Renews a claim while its job is worked on, and signals when the work has to stop. */
export class JobLease {
  private readonly controller = new AbortController();
  private readonly leaving = new AbortController();
  private readonly interval: NodeJS.Timeout;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly claims: JobClaims,
    private readonly claim: JobClaim,
    endEvents: JobEndEvents,
  ) {
    this.unsubscribe = endEvents.onEnd(claim.job.id, () => this.controller.abort());
    this.interval = setInterval(() => this.renew(), RENEWAL_MS);
    this.interval.unref();
  }

  /** Aborts when the job has ended, is claimed by another worker, or is released. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /**
   * Aborts only when the job is released. Used for submissions: an operation that was accepted in
   * vain can only be cancelled by the id in the vendor's answer.
   */
  get leavingSignal(): AbortSignal {
    return this.leaving.signal;
  }

  abandon(): void {
    this.controller.abort();
    this.leaving.abort();
  }

  /** Must be called when the work is finished. */
  end(): void {
    clearInterval(this.interval);
    this.unsubscribe();
  }

  /** A database outage says nothing about the job. */
  private renew(): void {
    this.claims.renew(this.claim).then(
      (isOurs) => {
        if (!isOurs) this.controller.abort();
      },
      () => undefined,
    );
  }
}
