import type { Server } from 'node:http';
import { Session } from 'node:inspector';

const CHECK_EVERY_MS = 5_000;
/** Up to this many requests between two checks count as quiet, e.g. one health probe a second. */
const QUIET_REQUESTS = 10;
/** With fewer requests there is too little garbage to collect. */
const MIN_REQUESTS = 500;
/** Delay before garbage of the start is collected. */
const AFTER_START_MS = 1_000;

/**
 * Returns memory to the system after a load. V8 collects old garbage only when allocations demand it,
 * so an idle process keeps the garbage of its last peak for hours. One full collection in a quiet
 * moment takes some 100 ms and returns most of it.
 */
export class IdleMemory {
  private readonly timer: NodeJS.Timeout;
  private requests = 0;
  private open = 0;
  private seenRequests = 0;
  private collectedAtRequests = 0;
  private afterStart: NodeJS.Timeout | undefined;

  /** @param collect V8's full collection, unless a test replaces it */
  constructor(
    server: Server,
    private readonly collect: () => void = collectThoroughly,
  ) {
    server.on('request', (_request, response) => {
      this.requests++;
      this.open++;
      response.once('close', () => this.open--);
    });
    this.timer = setInterval(() => this.check(), CHECK_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    clearTimeout(this.afterStart);
  }

  /** Collects the garbage of the start, a third of the heap, at the first quiet check. */
  collectAfterStart(): void {
    this.collectedAtRequests = -Infinity;
    this.afterStart = setTimeout(() => {
      this.seenRequests = 0;
      this.check();
    }, AFTER_START_MS);
    this.afterStart.unref();
  }

  private check(): void {
    const isQuiet = this.open === 0 && this.requests - this.seenRequests <= QUIET_REQUESTS;
    this.seenRequests = this.requests;
    if (!isQuiet || this.requests - this.collectedAtRequests < MIN_REQUESTS) return;
    this.collectedAtRequests = this.requests;
    this.collect();
  }
}

/**
 * Runs V8's thorough collection, which also compacts the heap and returns empty pages. The C library
 * returns the memory of buffers as the start scripts configure it (decision 22).
 */
function collectThoroughly(): void {
  const session = new Session();
  session.connect();
  // The callback runs while the session is locked, so disconnecting inside it would deadlock.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()));
}
