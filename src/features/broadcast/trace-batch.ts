import { MAX_BATCH_BYTES, MAX_BATCH_TRACES } from './broadcast-limits.js';

/** Traces that are sent together, to one or several destinations, a line of JSON for each. */
export class TraceBatch {
  /** Of its text; about what it takes in memory and, before it is compressed, written down. */
  bytes = 0;
  private readonly traces: string[] = [];

  constructor(readonly destinationIds: readonly string[]) {}

  get traceCount(): number {
    return this.traces.length;
  }

  get isFull(): boolean {
    return this.traceCount >= MAX_BATCH_TRACES || this.bytes >= MAX_BATCH_BYTES;
  }

  /** @param line JSON of a trace's `SpanDraft`s */
  add(line: string): void {
    this.traces.push(line);
    this.bytes += line.length;
  }

  /** For `renderBatch`. */
  serialize(): Buffer {
    return Buffer.from(this.traces.join('\n'));
  }
}
