import { InvalidRequestError } from '../errors/gateway-errors.js';
import { CoarseTimer, NOT_WATCHED, type Watched } from '../time/coarse-timer.js';

/** A sender gets this long for nothing … */
const PATIENCE_MS = 10_000;

/** … and after it has to have kept up this rate since the start. */
const MIN_BYTES_PER_SECOND = 8_192;

const CHECK_EVERY_MS = 2_500;

const timer = new CoarseTimer();

/** Watches that an upload does not drip in for hours. */
export class UploadPace implements Watched {
  private readonly startedMs = performance.now();
  private received = 0;
  watchIndex = NOT_WATCHED;
  deadlineMs = this.startedMs + PATIENCE_MS;

  constructor(private readonly onTooSlow: (error: InvalidRequestError) => void) {
    timer.watch(this);
  }

  note(bytes: number): void {
    this.received += bytes;
  }

  stop(): void {
    timer.unwatch(this);
  }

  onDeadline(): void {
    const nowMs = performance.now();
    if (this.received < ((nowMs - this.startedMs) / 1000) * MIN_BYTES_PER_SECOND) {
      this.onTooSlow(
        new InvalidRequestError('body', 'The body arrived too slowly; send it again.', 408),
      );
      return;
    }
    this.deadlineMs = nowMs + CHECK_EVERY_MS;
    timer.watch(this);
  }
}
