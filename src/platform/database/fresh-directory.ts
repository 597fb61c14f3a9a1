import { boundedCache } from '../memory/bounded-cache.js';

/** Changes by other processes must apply within a second. */
const FRESH_MS = 900;
const MAX_ENTRIES = 20_000;
/** Ids per query; the others wait for the next one. */
const MAX_BATCH = 500;

export interface FreshDirectoryOptions<Value> {
  /**
   * Reads the values of the ids in one or a few queries, and omits unknown ids.
   *
   * @param known returns the remembered value of an id, stale or not
   */
  read(
    ids: readonly string[],
    known: (id: string) => Value | undefined,
  ): Promise<ReadonlyMap<string, Value>>;
  /** Returns the name by which a value is forgotten; its id by default. */
  nameOf?(value: Value): string;
  /** Age from which a value in use is refreshed in the background, so that no request waits. */
  refreshAfterMs?: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly readAtMs: number;
}

interface PendingRead<Value> {
  readonly promise: Promise<Value | undefined>;
  resolve(value: Value | undefined): void;
  reject(error: unknown): void;
}

/**
 * Remembers rows that requests need for less than a second: a busy row costs one read per second instead
 * of one per request, and changes by other processes still apply in time. Concurrent reads share a query,
 * and only one query runs at a time, which keeps a flood of unknown ids off the connection pool. Missing
 * values are not remembered.
 */
export class FreshDirectory<Value extends object> {
  /** By id; the entry read longest ago is evicted. */
  private readonly entries = boundedCache<string, Entry<Value>>(MAX_ENTRIES, ({ value }) => {
    if (this.options.nameOf) this.idsByName.delete(this.options.nameOf(value));
  });
  private readonly idsByName = new Map<string, string>();
  private readonly pending = new Map<string, PendingRead<Value>>();
  private queue: string[] = [];
  private isReading = false;
  private readonly forgottenWhileReading = new Set<string>();
  private readonly refreshAfterMs: number;

  constructor(private readonly options: FreshDirectoryOptions<Value>) {
    this.refreshAfterMs = options.refreshAfterMs ?? FRESH_MS;
  }

  /** Returns the value, without a promise when it is known; undefined when there is none. */
  get(id: string): Value | Promise<Value | undefined> {
    const entry = this.entries.peek(id);
    if (!entry) return this.read(id);
    const ageMs = performance.now() - entry.readAtMs;
    if (ageMs < this.refreshAfterMs) return entry.value;
    const read = this.read(id);
    if (ageMs >= FRESH_MS) return read;
    // Callers see a failure once the value has expired.
    read.catch(() => undefined);
    return entry.value;
  }

  /** Returns the value read last, of any age; undefined when there is none. */
  lastKnown(id: string): Value | undefined {
    return this.entries.peek(id)?.value;
  }

  /** Forgets a value after a committed change, so that the next request sees the change. */
  forget(name: string): void {
    // A running query may have read the value from before the change.
    if (this.isReading) this.forgottenWhileReading.add(name);
    const id = this.options.nameOf ? this.idsByName.get(name) : name;
    if (id !== undefined) this.entries.delete(id);
  }

  private read(id: string): Promise<Value | undefined> {
    const known = this.pending.get(id);
    if (known) return known.promise;
    const read = makePending<Value>();
    this.pending.set(id, read);
    this.queue.push(id);
    // Waits one turn of the event loop, so that requests that arrive together share a query.
    if (!this.isReading && this.queue.length === 1) setImmediate(() => void this.readQueued());
    return read.promise;
  }

  private async readQueued(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, MAX_BATCH);
      this.forgottenWhileReading.clear();
      // Values may be as old as the query, so their age counts from here.
      const readAtMs = performance.now();
      try {
        const values = await this.options.read(batch, (id) => this.lastKnown(id));
        this.settle(batch, values, readAtMs);
      } catch (error) {
        for (const id of batch) this.takePending(id)?.reject(error);
      }
    }
    this.isReading = false;
  }

  private settle(
    batch: readonly string[],
    values: ReadonlyMap<string, Value>,
    readAtMs: number,
  ): void {
    for (const id of batch) {
      const value = values.get(id);
      if (value && this.forgottenWhileReading.has(this.nameOf(id, value))) {
        this.queue.push(id);
        continue;
      }
      if (value) this.remember(id, { value, readAtMs });
      else this.entries.delete(id);
      this.takePending(id)?.resolve(value);
    }
  }

  private remember(id: string, entry: Entry<Value>): void {
    this.entries.set(id, entry);
    if (this.options.nameOf) this.idsByName.set(this.options.nameOf(entry.value), id);
  }

  private nameOf(id: string, value: Value): string {
    return this.options.nameOf?.(value) ?? id;
  }

  private takePending(id: string): PendingRead<Value> | undefined {
    const read = this.pending.get(id);
    this.pending.delete(id);
    return read;
  }
}

function makePending<Value>(): PendingRead<Value> {
  let resolve!: PendingRead<Value>['resolve'];
  let reject!: PendingRead<Value>['reject'];
  const promise = new Promise<Value | undefined>((...callbacks) => ([resolve, reject] = callbacks));
  return { promise, resolve, reject };
}
