import { toError } from '../errors/thrown.js';

/** Does a piece of work again and again, but never twice at a time, until it is stopped. */
export class SweepTimer {
  private interval: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  /** @param onFailure is told why a round failed; the next one takes place all the same */
  constructor(
    private readonly work: () => Promise<unknown>,
    private readonly onFailure: (error: Error) => void,
  ) {}

  /** Whether the work in hand is to come to an end. */
  get isStopped(): boolean {
    return this.stopped;
  }

  /** Begins the first round now, and another one every so often; none keeps the process alive. */
  start(intervalMs: number): void {
    this.tick();
    this.startLater(intervalMs);
  }

  /** The same, with the first round after the interval. */
  startLater(intervalMs: number): void {
    this.interval = setInterval(() => this.tick(), intervalMs);
    this.interval.unref();
  }

  /** Begins no further round, and waits for the one that is running. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.interval);
    await this.running;
  }

  /** Begins a round now, unless one is running or it is stopped. */
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
