import { LRUCache } from 'lru-cache';
import { CacheStore, type CacheLimits } from './cache-store.js';

/** What an entry takes beside its value, as measured: key, buffer objects, places in the maps. */
const ENTRY_OVERHEAD_BYTES = 700;

interface Entry {
  readonly tenantId: string;
  readonly value: Buffer;
}

/** What is kept for one tenant. */
interface Share {
  /** In the order in which they came, or were last asked for. */
  readonly keys: Set<string>;
  bytes: number;
}

/** Keeps answers in this process's memory; those that nobody has asked for longest go first. */
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
        // What has ended is to leave room at once, also in its tenant's share.
        ttlAutopurge: true,
        dispose: (entry, key) => this.leave(entry, key),
        // The clock as it is now, which a test may have replaced.
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
    // To the end of the line.
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

/** Small buffers share a block of memory, all of which one that is kept would hold on to. */
function withoutNeighbours(value: Buffer): Buffer {
  if (value.buffer.byteLength === value.length) return value;
  const own = Buffer.allocUnsafeSlow(value.length);
  value.copy(own);
  return own;
}

function sizeOf({ value }: Entry): number {
  return value.length + ENTRY_OVERHEAD_BYTES;
}
