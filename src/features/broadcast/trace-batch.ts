import {
  MAX_BATCH_BYTES,
  MAX_BATCH_TRACES,
  type TraceGroupLimits,
  MAX_BUFFERED_BYTES,
  MAX_BUFFERED_BYTES_PER_TENANT,
  MAX_BUFFERED_TRACES,
  MAX_BUFFERED_TRACES_PER_TENANT,
} from './broadcast-limits.js';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const compress = promisify(gzip);

const decompress = promisify(gunzip);

/** Shorter batches gain less from compression than it costs. */
const MIN_GZIPPED_BYTES = 2 * 1024;

/** First byte of gzip data. JSON traces start with a bracket. */
const GZIP = 0x1f;

/** Tracks unstored traces of this process, and whether a tenant may add more. */
export class BufferBudget {
  readonly total: Held = { traces: 0, bytes: 0 };
  private readonly tenants = new Map<string, Held>();

  hasRoom(tenantId: string): boolean {
    const own = this.tenants.get(tenantId);
    return (
      this.total.traces < MAX_BUFFERED_TRACES &&
      this.total.bytes < MAX_BUFFERED_BYTES &&
      (!own ||
        (own.traces < MAX_BUFFERED_TRACES_PER_TENANT && own.bytes < MAX_BUFFERED_BYTES_PER_TENANT))
    );
  }

  take(tenantId: string, bytes: number): void {
    const own = this.tenants.get(tenantId) ?? { traces: 0, bytes: 0 };
    this.tenants.set(tenantId, own);
    for (const held of [this.total, own]) {
      held.traces++;
      held.bytes += bytes;
    }
  }

  giveBack(tenantId: string, { traces, bytes }: Held): void {
    const own = this.tenants.get(tenantId);
    if (!own) return;
    for (const held of [this.total, own]) {
      held.traces -= traces;
      held.bytes -= bytes;
    }
    if (own.traces === 0) this.tenants.delete(tenantId);
  }
}

/** Traces of a tenant for the same destinations, until they are stored together. */
export class TraceGroup {
  readonly batches: TraceBatch[] = [];
  /** In `performance.now()` time. */
  readonly dueAtMs: number;
  private traces = 0;
  private bytes = 0;

  constructor(
    readonly tenantId: string,
    readonly destinationIds: readonly string[],
    private readonly limits: TraceGroupLimits,
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

/** Traces that are sent together, one JSON line each. */
export class TraceBatch {
  /** Text size; close to the size in memory and, before compression, in storage. */
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

  /** Input of `renderBatch`. */
  serialize(): Buffer {
    return Buffer.from(this.traces.join('\n'));
  }
}

interface Held {
  traces: number;
  bytes: number;
}

/**
 * Compresses a serialized `TraceBatch` for storage. Names repeat, so gzip reduces it to a tenth.
 */
export async function toStored(written: Buffer): Promise<Buffer> {
  // Off the main thread, at the fastest level.
  return written.length < MIN_GZIPPED_BYTES ? written : compress(written, { level: 1 });
}

/** Decompresses the output of `toStored`. */
export async function fromStored(stored: Buffer): Promise<Buffer> {
  return stored[0] === GZIP ? decompress(stored) : stored;
}
