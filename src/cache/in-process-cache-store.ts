import { CacheStore } from './cache-store.js';

interface Entry {
  readonly value: Buffer;
  /** On the clock of `performance.now()`. */
  readonly expiresAtMs: number;
}

/** What an entry takes beside its value: key, buffer object, place in the map. */
const ENTRY_OVERHEAD_BYTES = 300;

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
    const entry = { value, expiresAtMs: performance.now() + ttlSeconds * 1000 };
    this.remove(key);
    if (sizeOf(entry) > this.maxBytes) return;
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

function sizeOf({ value }: Entry): number {
  return value.length + ENTRY_OVERHEAD_BYTES;
}
