/** Changes by other processes must apply within a second. */
const FRESH_MS = 900;
const MAX_ENTRIES = 20_000;
/** Ids read by one query; the rest waits for the next. */
const MAX_BATCH = 500;

export interface FreshDirectoryOptions<Value> {
  /**
   * Reads what the ids stand for, with one query or few; an id that stands for nothing is left out.
   *
   * @param known what was read before and is still remembered, stale or not
   */
  read(
    ids: readonly string[],
    known: (id: string) => Value | undefined,
  ): Promise<ReadonlyMap<string, Value>>;
  /** The name under which a value is forgotten; by default the id under which it is found. */
  nameOf?(value: Value): string;
  /** From this age on a value that is in use is read again in passing, so that nobody waits. */
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
 * Rows that requests need, remembered for less than a second, so that what is busy costs a row read
 * per second and not one per request, and a change by another process holds here in time. Reads that
 * are asked for together share a query, one query at a time, which also keeps a flood of unknown
 * ids away from the connection pool. What is not there is not remembered.
 */
export class FreshDirectory<Value extends object> {
  /** By id, in the order in which they were read. */
  private readonly entries = new Map<string, Entry<Value>>();
  private readonly idsByName = new Map<string, string>();
  private readonly pending = new Map<string, PendingRead<Value>>();
  private queue: string[] = [];
  private isReading = false;
  private readonly forgottenWhileReading = new Set<string>();
  private readonly refreshAfterMs: number;

  constructor(private readonly options: FreshDirectoryOptions<Value>) {
    this.refreshAfterMs = options.refreshAfterMs ?? FRESH_MS;
  }

  /** Undefined: there is no such thing. Answers at once, without a promise, where it is known. */
  get(id: string): Value | Promise<Value | undefined> {
    const entry = this.entries.get(id);
    if (!entry) return this.read(id);
    const ageMs = performance.now() - entry.readAtMs;
    if (ageMs < this.refreshAfterMs) return entry.value;
    const read = this.read(id);
    if (ageMs >= FRESH_MS) return read;
    // Whoever comes when the time is up is told of a failure.
    read.catch(() => undefined);
    return entry.value;
  }

  /** What was read last, however long ago; undefined when nothing ever was. */
  lastKnown(id: string): Value | undefined {
    return this.entries.get(id)?.value;
  }

  /** To be called after a change is committed: the next request sees it. */
  forget(name: string): void {
    // A query under way may have read what was there before the change.
    if (this.isReading) this.forgottenWhileReading.add(name);
    const id = this.options.nameOf ? this.idsByName.get(name) : name;
    this.idsByName.delete(name);
    if (id !== undefined) this.entries.delete(id);
  }

  private read(id: string): Promise<Value | undefined> {
    const known = this.pending.get(id);
    if (known) return known.promise;
    const read = makePending<Value>();
    this.pending.set(id, read);
    this.queue.push(id);
    // A turn of the event loop later, so that requests that arrived together are read together.
    if (!this.isReading && this.queue.length === 1) setImmediate(() => void this.readQueued());
    return read.promise;
  }

  private async readQueued(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, MAX_BATCH);
      this.forgottenWhileReading.clear();
      // What is read now may be as old as the moment the query was sent, so age counts from here.
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
      else this.drop(id);
      this.takePending(id)?.resolve(value);
    }
  }

  private remember(id: string, entry: Entry<Value>): void {
    this.entries.delete(id);
    this.entries.set(id, entry);
    if (this.options.nameOf) this.idsByName.set(this.options.nameOf(entry.value), id);
    if (this.entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.drop(oldest);
  }

  private drop(id: string): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.entries.delete(id);
    if (this.options.nameOf) this.idsByName.delete(this.options.nameOf(entry.value));
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
