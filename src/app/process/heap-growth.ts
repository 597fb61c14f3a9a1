import { PerformanceObserver, constants, type PerformanceEntry } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/** By how much the heap may grow over what the last full collection left, in percent. */
const TIGHT_PERCENT = 30;
const LOOSE_PERCENT = 150;

/** Full collections that come so soon after each other cost more than the memory is worth … */
const TOO_SOON_MS = 1_000;
/** … and so rarely, next to nothing. */
const RARE_MS = 3_000;

/**
 * Says how much garbage V8 may leave in the heap. By itself it waits until a small heap has about
 * doubled, whatever makes it grow. Under a thousand streams, whose garbage grows old slowly, that
 * is 100 MB of garbage and of buffers that hang on it, for a collection less every few seconds;
 * under large bodies, which are old at once, it is a collection every few requests.
 *
 * To be made before the application is loaded, whose garbage would else be room in the heap for good:
 * some 20 MB. To be put in control when it is, as collections of a heap that is being filled say nothing of its use.
 */
export class HeapGrowth {
  private lastFullMs = -Infinity;
  private percent = 0;

  constructor(private readonly allow: (percent: number) => void = allowGrowth) {
    this.set(TIGHT_PERCENT);
  }

  /** To be told of each full collection, by the time when it began. */
  collected(atMs: number): void {
    const sinceMs = atMs - this.lastFullMs;
    this.lastFullMs = atMs;
    if (sinceMs < TOO_SOON_MS) this.set(LOOSE_PERCENT);
    else if (sinceMs > RARE_MS) this.set(TIGHT_PERCENT);
  }

  /** From now on it is told of each full collection. */
  control(): void {
    const observer = new PerformanceObserver((entries) => {
      for (const entry of entries.getEntries()) {
        if (isFull(entry)) this.collected(entry.startTime);
      }
    });
    observer.observe({ entryTypes: ['gc'] });
  }

  private set(percent: number): void {
    if (percent === this.percent) return;
    this.percent = percent;
    this.allow(percent);
  }
}

function isFull(entry: PerformanceEntry & { detail?: { kind?: number } }): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

/** V8 looks at the flag at the end of each full collection. */
function allowGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/**
 * Has V8 make every object in the young generation, whose collection costs next to nothing where
 * little is alive.
 *
 * By itself it makes objects of code that often made lasting ones in the old generation at once:
 * those of whoever was under way during a few collections of the first requests. Such an object, of
 * a request long answered, then counts as alive until a full collection, and with it all that it
 * refers to. A request left 6 KB there, and cheap collections took three times as long.
 *
 * To be called before there is work: what is compiled by then stays as it is.
 */
export function keepGarbageYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
