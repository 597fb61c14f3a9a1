import { InvalidRequestError } from '../errors/gateway-errors.js';
import { CoarseTimer, NOT_WATCHED, type Watched } from '../time/coarse-timer.js';

const GRACE_MS = 10_000;
/** After the grace period, a sender must have kept this rate since the start. */
const MIN_BYTES_PER_SECOND = 8_192;
const CHECK_EVERY_MS = 2_500;

/** One timer watches all bodies: a timer each would cost more than reading a small body. */
const timer = new CoarseTimer();

/** Detects bodies that arrive too slowly. */
export class UploadPace implements Watched {
  watchIndex = NOT_WATCHED;
  private readonly startedMs = performance.now();
  deadlineMs = this.startedMs + GRACE_MS;
  private received = 0;

  /** @param onTooSlow called once, with the 408 for the sender */
  constructor(private readonly onTooSlow: (error: InvalidRequestError) => void) {
    timer.watch(this);
  }

  /** Records the length of a piece. */
  note(bytes: number): void {
    this.received += bytes;
  }

  stop(): void {
    timer.unwatch(this);
  }

  onDeadline(): void {
    const nowMs = performance.now();
    if (this.received < ((nowMs - this.startedMs) / 1000) * MIN_BYTES_PER_SECOND) {
      const message = 'The body arrived too slowly; send it again.';
      return this.onTooSlow(new InvalidRequestError('body', message, 408));
    }
    this.deadlineMs = nowMs + CHECK_EVERY_MS;
    timer.watch(this);
  }
}
