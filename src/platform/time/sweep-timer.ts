import { toError } from '../errors/thrown.js';

/** Repeats a piece of work, never twice at a time, until it is stopped. */
export class SweepTimer {
  private interval: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  /** @param onFailure receives the reason of a failed round; the next one runs all the same */
  constructor(
    private readonly work: () => Promise<unknown>,
    private readonly onFailure: (error: Error) => void,
  ) {}

  /** True when the current round should finish early. */
  get isStopped(): boolean {
    return this.stopped;
  }

  /** Starts a round now and one every interval. Does not keep the process alive. */
  start(intervalMs: number): void {
    this.tick();
    this.startLater(intervalMs);
  }

  /** Starts the first round after one interval. */
  startLater(intervalMs: number): void {
    this.interval = setInterval(() => this.tick(), intervalMs);
    this.interval.unref();
  }

  /** Starts no further round and waits for the running one. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.interval);
    await this.running;
  }

  /** Starts a round now, unless one is running or the timer is stopped. */
  tick(): void {
    if (this.stopped) return;
    this.running ??= this.work()
      .then(() => undefined)
      .catch((error: unknown) => this.onFailure(toError(error)))
      .finally(() => {
        this.running = undefined;
      });
  }
}
