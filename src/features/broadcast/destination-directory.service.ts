import { Injectable } from '@nestjs/common';
import { DestinationRepository, type DestinationChoice } from './destination.repository.js';

/** Within a second a change elsewhere has to hold here. */
const HOLDS_MS = 1_000;
/** Read anew a little before that, so that busy tenants are always known. */
const FRESH_MS = 900;
const MAX_ENTRIES = 20_000;
/** Tenants read by one query; the rest waits for the next. */
const MAX_BATCH = 500;

interface Entry {
  readonly destinations: readonly DestinationChoice[];
  readonly readAtMs: number;
}

interface PendingRead {
  readonly promise: Promise<readonly DestinationChoice[]>;
  resolve(destinations: readonly DestinationChoice[]): void;
  reject(error: unknown): void;
}

/**
 * The destinations of each tenant that are on, remembered for a moment. Tenants that are asked for
 * together share a query, one query at a time.
 */
@Injectable()
export class DestinationDirectory {
  private readonly entries = new Map<string, Entry>();
  private readonly pending = new Map<string, PendingRead>();
  private isReading = false;
  private readonly forgottenWhileReading = new Set<string>();

  constructor(private readonly repository: DestinationRepository) {}

  /** What holds, if that is known right now; what is soon out of date is read anew in passing. */
  peek(tenantId: string): readonly DestinationChoice[] | undefined {
    const entry = this.entries.get(tenantId);
    const ageMs = entry ? performance.now() - entry.readAtMs : Infinity;
    // Who really needs it is told of a failure.
    if (ageMs > FRESH_MS) this.read(tenantId).catch(() => undefined);
    return ageMs > HOLDS_MS ? undefined : entry?.destinations;
  }

  /** What held when that was last read, however long ago; none when it never was. */
  lastKnown(tenantId: string): readonly DestinationChoice[] {
    return this.entries.get(tenantId)?.destinations ?? [];
  }

  /** What holds now, without a promise where it is known. */
  of(tenantId: string): readonly DestinationChoice[] | Promise<readonly DestinationChoice[]> {
    const entry = this.entries.get(tenantId);
    const isFresh = entry && performance.now() - entry.readAtMs <= FRESH_MS;
    return isFresh ? entry.destinations : this.read(tenantId);
  }

  /** To be called after a change is committed: the next request sees it. */
  forget(tenantId: string): void {
    if (this.isReading) this.forgottenWhileReading.add(tenantId);
    this.entries.delete(tenantId);
  }

  private read(tenantId: string): Promise<readonly DestinationChoice[]> {
    const known = this.pending.get(tenantId);
    if (known) return known.promise;
    const read = makePending();
    this.pending.set(tenantId, read);
    // A turn of the event loop later, so that requests that arrived together are read together.
    if (!this.isReading && this.pending.size === 1) setImmediate(() => void this.readPending());
    return read.promise;
  }

  private async readPending(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    while (this.pending.size > 0) {
      const tenantIds = [...this.pending.keys()].slice(0, MAX_BATCH);
      this.forgottenWhileReading.clear();
      // What is read now may be as old as the moment the query was sent.
      const readAtMs = performance.now();
      try {
        const found = await this.repository.findChoices(tenantIds);
        for (const tenantId of tenantIds)
          this.settle(tenantId, found.get(tenantId) ?? [], readAtMs);
      } catch (error) {
        for (const tenantId of tenantIds) this.take(tenantId)?.reject(error);
      }
    }
    this.isReading = false;
  }

  private settle(
    tenantId: string,
    destinations: readonly DestinationChoice[],
    readAtMs: number,
  ): void {
    this.entries.delete(tenantId);
    if (!this.forgottenWhileReading.has(tenantId)) {
      this.entries.set(tenantId, { destinations, readAtMs });
    }
    if (this.entries.size > MAX_ENTRIES) {
      const [oldest] = this.entries.keys();
      if (oldest !== undefined) this.entries.delete(oldest);
    }
    this.take(tenantId)?.resolve(destinations);
  }

  private take(tenantId: string): PendingRead | undefined {
    const read = this.pending.get(tenantId);
    this.pending.delete(tenantId);
    return read;
  }
}

function makePending(): PendingRead {
  let settle: Pick<PendingRead, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<readonly DestinationChoice[]>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle! };
}
