import { CacheStore } from './cache-store.js';

interface Entry {
  readonly value: Buffer;
  /** On the clock of `performance.now()`. */
  readonly expiresAtMs: number;
}

/** What an entry takes beside its value, as measured: key, buffer objects, place in the map. */
const ENTRY_OVERHEAD_BYTES = 700;

/** Keeps answers in this process's memory; those that nobody has asked for longest go first. */
export class InProcessCacheStore extends CacheStore {
  /** In the order of their last use. */
  private readonly entries = new Map<string, Entry>();
  private heldBytes = 0;

  /** @param maxBytes of all entries together; 0 keeps nothing */
  constructor(private readonly maxBytes: number) {
    super();
  }

  /** Memory in use, in bytes. */
  get bytes(): number {
    return this.heldBytes;
  }

  get(key: string): Buffer | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    if (performance.now() >= entry.expiresAtMs) {
      this.heldBytes -= sizeOf(entry);
      return undefined;
    }
    this.entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Buffer, ttlSeconds: number): void {
    this.remove(key);
    if (sizeOf({ value }) > this.maxBytes) return;
    const entry = {
      value: withoutNeighbours(value),
      expiresAtMs: performance.now() + ttlSeconds * 1000,
    };
    this.entries.set(key, entry);
    this.heldBytes += sizeOf(entry);
    for (const oldest of this.entries.keys()) {
      if (this.heldBytes <= this.maxBytes) break;
      this.remove(oldest);
    }
  }

  private remove(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.heldBytes -= sizeOf(entry);
  }
}

/** Small buffers share a block of memory, all of which one that is kept would hold on to. */
function withoutNeighbours(value: Buffer): Buffer {
  if (value.buffer.byteLength === value.length) return value;
  const own = Buffer.allocUnsafeSlow(value.length);
  value.copy(own);
  return own;
}

function sizeOf({ value }: Pick<Entry, 'value'>): number {
  return value.length + ENTRY_OVERHEAD_BYTES;
}
