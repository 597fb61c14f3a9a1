import type { JobClaim, JobClaims } from './job-claims.repository.js';
import type { JobEndEvents } from './job-waiter.service.js';

const RENEWAL_MS = 4_000;

/** Keeps a claim alive while its job is worked on, and says when the work is in vain. */
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

  /** Aborted when the job has ended, is in other hands, or is to be left to others. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /**
   * Aborted only when it is to be left to others. It is for a vendor who goes on by himself: what he has taken in vain
   * he can be told to stop only by the name that he answers with.
   */
  get leavingSignal(): AbortSignal {
    return this.leaving.signal;
  }

  abandon(): void {
    this.controller.abort();
    this.leaving.abort();
  }

  /** To be called when the work is over. */
  end(): void {
    clearInterval(this.interval);
    this.unsubscribe();
  }

  /** A database that is away says nothing about the job. */
  private renew(): void {
    this.claims.renew(this.claim).then(
      (isOurs) => {
        if (!isOurs) this.controller.abort();
      },
      () => undefined,
    );
  }
}
