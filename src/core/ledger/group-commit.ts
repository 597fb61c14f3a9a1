import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** What a group commit works on. */
export interface CommitSource {
  hasWork(): boolean;
  /**
   * Commits what has queued so far, up to a bound; true when the next may follow at once, false
   * when it should be tried again after a pause. Never throws.
   */
  commitNext(): Promise<boolean>;
}

/**
 * Natural group commit: one commit is under way at a time, and the next takes all that queued
 * meanwhile. There is no timer: an idle gateway commits at once, a busy one in larger groups.
 */
export class GroupCommit {
  private running = false;
  private stopped = false;
  private waiting: (() => void)[] = [];

  constructor(private readonly source: CommitSource) {}

  /** To be called whenever work was added. */
  wake(): void {
    if (this.running || this.stopped) return;
    this.running = true;
    void this.run();
  }

  /** Resolves when nothing is queued or under way. */
  whenIdle(): Promise<void> {
    if (!this.running) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Ends the work for good, done or not. */
  stop(): void {
    this.stopped = true;
  }

  private async run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.stopped && this.source.hasWork()) {
      // One turn of the event loop: whoever is ready to ask in it shares this commit.
      await nextTurn();
      if (await this.source.commitNext()) {
        pauseMs = FIRST_PAUSE_MS;
      } else {
        await pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
    this.running = false;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
