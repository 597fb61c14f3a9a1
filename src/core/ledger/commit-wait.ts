import type { Logger } from '@nestjs/common';
import { CoarseTimer, NOT_WATCHED, type Watched } from '../../platform/time/coarse-timer.js';

/** How long the end of an answer waits for its commit while the database is unavailable. */
const MAX_COMMIT_WAIT_MS = 2_000;

interface CommitOptions {
  /** True when the commit stores a record that the caller may read next; always waited for. */
  readonly hasRecord?: boolean;
  /** Called when the commit succeeds, even after the wait timed out. */
  readonly onCommit?: () => void;
}

/** Waits for settlement commits as long as the setting allows. Logs failures for the operator. */
export class CommitWait {
  /** One timer for all commits; a timer per commit would cost more than it is worth. */
  private readonly timer = new CoarseTimer();

  /** @param isSkipped whether answers end before their commits, except those with a record */
  constructor(
    private readonly isSkipped: boolean,
    private readonly logger: Logger,
  ) {}

  /** Ends all waits, at shutdown. */
  endAll(): void {
    this.timer.expireAll();
  }

  /** Returns the commit's outcome; undefined when it failed or timed out. */
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
          this.logger.error(`settlement failed: ${error.message}`);
          resolve(undefined);
        },
      );
      if (this.isSkipped && !hasRecord) resolve(undefined);
      else this.timer.watch(wait);
    });
  }
}
