/** Where answers are kept for a while. A store that fails has simply nothing. */
export abstract class CacheStore {
  /** What is kept under a key, as it was given. Never rejects. */
  abstract get(key: string): Buffer | undefined | Promise<Buffer | undefined>;

  /** Keeps a value, which must not be changed afterwards. Nobody waits for it. */
  abstract set(key: string, value: Buffer, ttlSeconds: number): void;
}
