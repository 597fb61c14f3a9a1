/** Renews a claim while its work runs, and signals when the work has to stop. */
export class Lease {
  private readonly lost = new AbortController();
  private readonly leaving = new AbortController();
  private readonly interval: NodeJS.Timeout | undefined;
  /** True when this process stops: what fails from here on says nothing about the work. */
  isStopping = false;

  /**
   * @param renew returns false when the row has ended or was claimed again; undefined when the work ends well within
   *   its lease
   */
  constructor(renew?: () => Promise<boolean>, everyMs = 4_000) {
    if (!renew) return;
    this.interval = setInterval(() => {
      renew().then(
        (isOurs) => {
          if (!isOurs) this.lose();
        },
        // A database outage says nothing about the row.
        () => undefined,
      );
    }, everyMs);
    this.interval.unref();
  }

  /** Aborts when the row has ended, was claimed again, or is handed over. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /**
   * Aborts only when the row is handed over. For submissions: an accepted operation that is no longer needed can only be
   * cancelled by the id in the vendor's answer.
   */
  get leavingSignal(): AbortSignal {
    return this.leaving.signal;
  }

  /** Stops the work: the row has ended or belongs to another worker. */
  lose(): void {
    this.lost.abort();
  }

  /** Stops the work because this process stops. */
  abandon(): void {
    this.lost.abort();
    this.leaving.abort();
  }

  /** Ends the renewals. */
  end(): void {
    clearInterval(this.interval);
  }
}
