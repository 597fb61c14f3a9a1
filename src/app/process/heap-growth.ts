import { PerformanceObserver, constants, type PerformanceEntry } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/** How much the heap may grow beyond the size after the last full collection, in percent. */
const TIGHT_PERCENT = 30;
const LOOSE_PERCENT = 150;

/** Full collections this close together cost more than the memory is worth … */
const TOO_SOON_MS = 1_000;
/** … and collections this rare cost next to nothing. */
const RARE_MS = 3_000;

/**
 * Controls how much garbage V8 may leave in the heap. By default V8 waits until a small heap has about
 * doubled, whatever makes it grow. With a thousand streams, whose garbage ages slowly, that is
 * 100 MB of garbage and attached buffers, to save one collection every few seconds. With large
 * bodies, which are old at once, it is a collection every few requests.
 *
 * Create it before the application is loaded, whose garbage would otherwise enlarge the heap for good
 * by some 20 MB. Call `control` afterwards: collections while the heap fills say nothing about its use.
 */
export class HeapGrowth {
  private lastFullMs = -Infinity;
  private percent = 0;

  constructor(private readonly allow: (percent: number) => void = allowGrowth) {
    this.set(TIGHT_PERCENT);
  }

  /** Adjusts the growth after a full collection. @param atMs when the collection began */
  collected(atMs: number): void {
    const sinceMs = atMs - this.lastFullMs;
    this.lastFullMs = atMs;
    if (sinceMs < TOO_SOON_MS) this.set(LOOSE_PERCENT);
    else if (sinceMs > RARE_MS) this.set(TIGHT_PERCENT);
  }

  /** Starts observing full collections. */
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

/** V8 reads the flag at the end of each full collection. */
function allowGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/**
 * Makes V8 allocate every object in the young generation, whose collection costs next to nothing
 * when few objects are alive.
 *
 * By default V8 allocates objects directly in the old generation for code whose objects often
 * survived: here, those of requests in progress during the first few collections. Such an object of a
 * finished request then counts as alive until a full collection, with everything it refers to. Each
 * request left 6 KB there, and young collections took three times as long.
 *
 * Call before any work: code compiled earlier is not affected.
 */
export function keepGarbageYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
