import { LRUCache } from 'lru-cache';
import { CacheStore, type CacheLimits } from './cache-store.js';

/** Measured memory of an entry beyond its value: key, buffer objects, map slots. */
const ENTRY_OVERHEAD_BYTES = 700;

interface Entry {
  readonly tenantId: string;
  readonly value: Buffer;
}

/** The entries of one tenant. */
interface Share {
  /** Least recently used first. */
  readonly keys: Set<string>;
  bytes: number;
}

/** Keeps answers in this process's memory and evicts the least recently used. */
export class InProcessCacheStore extends CacheStore {
  private readonly entries: LRUCache<string, Entry> | undefined;
  private readonly shares = new Map<string, Share>();

  constructor(private readonly limits: CacheLimits) {
    super();
    const { maxBytes } = limits;
    if (maxBytes > 0 && limits.maxBytesPerTenant > 0) {
      this.entries = new LRUCache({
        maxSize: maxBytes,
        sizeCalculation: sizeOf,
        // Expired entries must free their space at once, also in the tenant's share.
        ttlAutopurge: true,
        dispose: (entry, key) => this.leave(entry, key),
        // Read at construction, since tests may replace the clock.
        perf: performance,
      });
    }
  }

  bytesInUse(): number {
    return this.entries?.calculatedSize ?? 0;
  }

  get(key: string): Buffer | undefined {
    const entry = this.entries?.get(key);
    if (!entry) return undefined;
    const keys = this.shares.get(entry.tenantId)?.keys;
    // Move to the most recently used end.
    if (keys?.delete(key)) keys.add(key);
    return entry.value;
  }

  set(tenantId: string, key: string, value: Buffer, ttlSeconds: number): void {
    const { entries } = this;
    if (!entries) return;
    entries.delete(key);
    const entry: Entry = { tenantId, value: withoutNeighbours(value) };
    const bytes = sizeOf(entry);
    const { maxBytes, maxBytesPerTenant } = this.limits;
    if (bytes > maxBytes || bytes > maxBytesPerTenant) return;
    for (const oldest of this.shares.get(tenantId)?.keys ?? []) {
      if ((this.shares.get(tenantId)?.bytes ?? 0) + bytes <= maxBytesPerTenant) break;
      entries.delete(oldest);
    }
    this.enter(entry, key);
    entries.set(key, entry, { ttl: ttlSeconds * 1000 });
  }

  private enter(entry: Entry, key: string): void {
    const share = this.shares.get(entry.tenantId) ?? { keys: new Set<string>(), bytes: 0 };
    this.shares.set(entry.tenantId, share);
    share.keys.add(key);
    share.bytes += sizeOf(entry);
  }

  private leave(entry: Entry, key: string): void {
    const share = this.shares.get(entry.tenantId);
    if (!share?.keys.delete(key)) return;
    share.bytes -= sizeOf(entry);
    if (share.keys.size === 0) this.shares.delete(entry.tenantId);
  }
}

/**
 * Copies small buffers out of the pool block they share, which one cached buffer would keep alive.
 */
function withoutNeighbours(value: Buffer): Buffer {
  if (value.buffer.byteLength === value.length) return value;
  const own = Buffer.allocUnsafeSlow(value.length);
  value.copy(own);
  return own;
}

function sizeOf({ value }: Entry): number {
  return value.length + ENTRY_OVERHEAD_BYTES;
}
