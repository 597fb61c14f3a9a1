import type { Logger } from '@nestjs/common';
import { CoarseTimer, NOT_WATCHED, type Watched } from '../../platform/time/coarse-timer.js';

/** How long the end of an answer waits for its commit when the database is away. */
const MAX_COMMIT_WAIT_MS = 2_000;

/** What is known of a commit besides its outcome. */
interface CommitOptions {
  /** Whether it writes what the caller may ask for next, which is waited for in any case. */
  readonly hasRecord?: boolean;
  /** Called when the commit stands, be it after the wait. */
  readonly onCommit?: () => void;
}

/** Waits for commits of settlements as long as the setting allows; a failure is the operator's to know. */
export class CommitWait {
  /** One timer for all commits: a timer each costs more than the wait is worth. */
  private readonly timer = new CoarseTimer();

  /** @param isSkipped whether answers end before their commits, as far as they may */
  constructor(
    private readonly isSkipped: boolean,
    private readonly logger: Logger,
  ) {}

  /** Nobody waits any longer, as far as they may go without: the service stops. */
  endAll(): void {
    this.timer.expireAll();
  }

  /** @returns the commit's outcome; undefined when it did not stand in time */
  for<Outcome>(
    commit: Promise<Outcome>,
    { hasRecord = false, onCommit }: CommitOptions = {},
  ): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      const wait: Watched = {
        deadlineMs: performance.now() + MAX_COMMIT_WAIT_MS,
        watchIndex: NOT_WATCHED,
        onDeadline: () => resolve(undefined),
      };
      commit.then(
        (outcome) => {
          this.timer.unwatch(wait);
          onCommit?.();
          resolve(outcome);
        },
        (error: Error) => {
          this.timer.unwatch(wait);
          this.logger.error(`A settlement could not be written: ${error.message}`);
          resolve(undefined);
        },
      );
      if (this.isSkipped && !hasRecord) resolve(undefined);
      else this.timer.watch(wait);
    });
  }
}
