import type { GatheringLimits } from './broadcast-limits.js';
import { TraceBatch } from './trace-batch.js';

/** Traces of one tenant that go to the same destinations, until they are written down together. */
export class TraceGathering {
  readonly batches: TraceBatch[] = [];
  /** On the clock of `performance.now()`. */
  readonly dueAtMs: number;
  private traces = 0;
  private bytes = 0;

  constructor(
    readonly tenantId: string,
    readonly destinationIds: readonly string[],
    private readonly limits: GatheringLimits,
  ) {
    this.dueAtMs = performance.now() + limits.maxAgeMs;
  }

  get isFull(): boolean {
    return this.traces >= this.limits.maxTraces || this.bytes >= this.limits.maxBytes;
  }

  /** @param line JSON of a trace's `SpanDraft`s */
  add(line: string): void {
    let batch = this.batches.at(-1);
    if (!batch || batch.isFull) {
      batch = new TraceBatch(this.destinationIds);
      this.batches.push(batch);
    }
    batch.add(line);
    this.traces++;
    this.bytes += line.length;
  }
}
