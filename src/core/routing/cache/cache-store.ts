/** Larger answers are not kept: they would take others' room, and time to read. */
export const MAX_ANSWER_BYTES = 4_000_000;

/** Where answers are kept for a while. A store that fails has simply nothing. */
export abstract class CacheStore {
  /** What is kept under a key, as it was given. Never rejects. */
  abstract get(key: string): Buffer | undefined | Promise<Buffer | undefined>;

  /**
   * Keeps a value, which must not be changed afterwards. Nobody waits for it. Where its tenant or all
   * tenants together have too much then, the oldest go, the tenant's own first.
   */
  abstract set(tenantId: string, key: string, value: Buffer, ttlSeconds: number): void;

  /** What is kept, in bytes. Rejects while nobody can tell. */
  abstract bytesInUse(): number | Promise<number>;
}

/** How much is kept, in bytes, keys and their keeping included; 0 keeps nothing. */
export interface CacheLimits {
  readonly maxBytes: number;
  readonly maxBytesPerTenant: number;
}
