import type { JobClaim, JobClaims } from './job-claims.repository.js';
import type { JobNotices } from './job-waiter.service.js';

const RENEWAL_MS = 4_000;

/** Keeps a claim alive while its job is worked on, and says when the work is in vain. */
export class JobLease {
  private readonly controller = new AbortController();
  private readonly interval: NodeJS.Timeout;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly claims: JobClaims,
    private readonly claim: JobClaim,
    notices: JobNotices,
  ) {
    this.unsubscribe = notices.onEnd(claim.job.id, () => this.abandon());
    this.interval = setInterval(() => this.renew(), RENEWAL_MS);
    this.interval.unref();
  }

  /** Aborted when the job has ended, is in other hands, or is to be left to others. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  abandon(): void {
    this.controller.abort();
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
        if (!isOurs && !this.signal.aborted) this.abandon();
      },
      () => undefined,
    );
  }
}
