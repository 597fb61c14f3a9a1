/** Larger answers are not kept: they would take others' room, and time to read. */
export const MAX_ANSWER_BYTES = 4_000_000;

/** Where answers are kept for a while. A store that fails has simply nothing. */
export abstract class CacheStore {
  /** Returns the stored value. Never rejects. */
  abstract get(key: string): Buffer | undefined | Promise<Buffer | undefined>;

  /**
   * Stores a value, which must not be changed afterwards, in the background. When the tenant or the
   * store exceeds its limit, evicts the oldest entries, the tenant's own first.
   */
  abstract set(tenantId: string, key: string, value: Buffer, ttlSeconds: number): void;

  /** Returns the bytes in use. Rejects when the store cannot tell. */
  abstract bytesInUse(): number | Promise<number>;
}

/** Limits in bytes, including keys and overhead; 0 disables the cache. */
export interface CacheLimits {
  readonly maxBytes: number;
  readonly maxBytesPerTenant: number;
}
