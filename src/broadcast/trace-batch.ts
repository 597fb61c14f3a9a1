import type { SpanDraft } from '../tracing/span-draft.js';
import { MAX_BATCH_BYTES, MAX_BATCH_TRACES } from './broadcast-limits.js';

/** Traces that are sent together, to one or several destinations, a line of JSON for each. */
export class TraceBatch {
  readonly startedAtMs = performance.now();
  bytes = 0;
  private readonly traces: string[] = [];

  constructor(
    /** What it is known by: the same destinations have the same. */
    readonly key: string,
    readonly destinationIds: readonly string[],
  ) {}

  get traceCount(): number {
    return this.traces.length;
  }

  get isFull(): boolean {
    return this.traceCount >= MAX_BATCH_TRACES || this.bytes >= MAX_BATCH_BYTES;
  }

  /** @returns about how many bytes it takes, in memory and written down */
  add(spans: readonly SpanDraft[]): number {
    const line = JSON.stringify(spans);
    this.traces.push(line);
    this.bytes += line.length;
    return line.length;
  }

  /** For `renderBatch`. */
  serialize(): Buffer {
    return Buffer.from(this.traces.join('\n'));
  }
}
