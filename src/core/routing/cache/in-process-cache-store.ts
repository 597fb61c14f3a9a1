import { LRUCache } from 'lru-cache';
import { CacheStore } from './cache-store.js';

/** What an entry takes beside its value, as measured: key, buffer objects, place in the map. */
const ENTRY_OVERHEAD_BYTES = 700;

/** Keeps answers in this process's memory; those that nobody has asked for longest go first. */
export class InProcessCacheStore extends CacheStore {
  private readonly entries: LRUCache<string, Buffer> | undefined;

  /** @param maxBytes of all entries together; 0 keeps nothing */
  constructor(maxBytes: number) {
    super();
    if (maxBytes > 0) {
      // The clock as it is now, which a test may have replaced.
      const perf = performance;
      this.entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf, perf });
    }
  }

  /** Memory in use, in bytes. */
  get bytes(): number {
    return this.entries?.calculatedSize ?? 0;
  }

  get(key: string): Buffer | undefined {
    return this.entries?.get(key);
  }

  set(key: string, value: Buffer, ttlSeconds: number): void {
    this.entries?.set(key, withoutNeighbours(value), { ttl: ttlSeconds * 1000 });
  }
}

/** Small buffers share a block of memory, all of which one that is kept would hold on to. */
function withoutNeighbours(value: Buffer): Buffer {
  if (value.buffer.byteLength === value.length) return value;
  const own = Buffer.allocUnsafeSlow(value.length);
  value.copy(own);
  return own;
}

function sizeOf(value: Buffer): number {
  return value.length + ENTRY_OVERHEAD_BYTES;
}
