import type { Server } from 'node:http';
import { Session } from 'node:inspector';

const CHECK_EVERY_MS = 5_000;
/** So few requests between two checks count as quiet: a health probe a second, say. */
const QUIET_REQUESTS = 10;
/** Before so many requests there is nothing worth collecting. */
const MIN_REQUESTS = 500;
/** What the start leaves is collected when it has been over for so long. */
const AFTER_START_MS = 1_000;

/**
 * Gives memory back once a load is over. V8 collects old garbage when allocation makes it, so that
 * a process which falls quiet keeps what its last peak left behind, for hours. One thorough
 * collection in a quiet moment takes some 100 ms and returns most of it.
 */
export class IdleMemory {
  private readonly timer: NodeJS.Timeout;
  private requests = 0;
  private open = 0;
  private seenRequests = 0;
  private collectedAtRequests = 0;
  private afterStart: NodeJS.Timeout | undefined;

  /** @param collect what collects; V8's own full collection unless a test looks on */
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

  /** Of what the start left behind, in the first quiet moment: a third of the heap. */
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
 * V8's thorough collection, which also compacts and gives the emptied pages back. What buffers leave
 * behind the C library gives back as the start scripts tell it to (decision 22).
 */
function collectThoroughly(): void {
  const session = new Session();
  session.connect();
  // The answer comes with the session's lock held: to disconnect within it would wait for itself.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()));
}
