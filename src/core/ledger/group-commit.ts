import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** The work of a group commit. */
export interface CommitSource {
  hasWork(): boolean;
  /**
   * Commits the queued work, up to a bound. Returns true when the next commit may follow at once,
   * false when this one must be retried after a pause. Never throws.
   */
  commitNext(): Promise<boolean>;
}

/**
 * Natural group commit: one commit runs at a time, and the next takes everything queued meanwhile.
 * Without a timer, an idle gateway commits at once and a busy one in larger groups.
 */
export class GroupCommit {
  private running = false;
  private stopped = false;
  private waiting: (() => void)[] = [];

  constructor(private readonly source: CommitSource) {}

  /** Call after adding work. */
  wake(): void {
    if (this.running || this.stopped) return;
    this.running = true;
    void this.run();
  }

  /** Resolves when nothing is queued or in progress. */
  whenIdle(): Promise<void> {
    if (!this.running) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Stops for good, dropping remaining work. */
  stop(): void {
    this.stopped = true;
  }

  private async run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.stopped && this.source.hasWork()) {
      // Work added in the same turn of the event loop shares this commit.
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
