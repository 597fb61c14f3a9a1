import { Injectable } from '@nestjs/common';
import { ApiKeyRepository, type ApiKeyLookup } from './api-key.repository.js';
import { apiKeyStatus, type ApiKeyStatus } from './api-key-status.js';
import type { Caller } from './caller.js';
import { hashApiKey } from './hash-api-key.js';

/** A key that exists, and what it is good for at this moment. */
export interface ResolvedKey {
  readonly caller: Caller;
  readonly status: ApiKeyStatus;
}

/** Less than the second within which a change elsewhere has to hold here. */
const FRESH_MS = 900;
const MAX_ENTRIES = 20_000;
/** Keys read by one query; the rest waits for the next. */
const MAX_BATCH = 500;

interface Entry {
  readonly key: ApiKeyLookup;
  readonly caller: Caller;
  readonly staleAtMs: number;
}

interface PendingLookup {
  readonly promise: Promise<ApiKeyLookup | undefined>;
  resolve(key: ApiKeyLookup | undefined): void;
  reject(error: unknown): void;
}

/**
 * Who holds a presented key. Keys that exist are remembered for a moment, so that a busy key costs
 * one row read per second and not one per request. Look-ups that come in together share a query,
 * one query at a time, which also keeps a flood of unknown keys away from the connection pool.
 */
@Injectable()
export class KeyDirectory {
  /** By hash, in the order in which they were read. */
  private readonly entries = new Map<string, Entry>();
  private readonly hashesById = new Map<string, string>();
  private readonly pending = new Map<string, PendingLookup>();
  private queue: string[] = [];
  private isReading = false;
  private forgottenWhileReading = new Set<string>();

  constructor(private readonly apiKeys: ApiKeyRepository) {}

  /** Undefined: no such key. Answers at once, without a promise, where the key is known. */
  resolve(presentedKey: string): ResolvedKey | undefined | Promise<ResolvedKey | undefined> {
    if (!presentedKey.startsWith('sk-')) return undefined;
    const hash = hashApiKey(presentedKey);
    const entry = this.entries.get(hash);
    if (entry && performance.now() < entry.staleAtMs) return resolved(entry.key, entry.caller);
    return this.lookUp(hash).then((key) => key && resolved(key, callerOf(key)));
  }

  /** To be called after a key's change is committed: the next request sees it. */
  forget(keyId: string): void {
    // A query under way may have read the key as it was before the change.
    if (this.isReading) this.forgottenWhileReading.add(keyId);
    const hash = this.hashesById.get(keyId);
    if (hash === undefined) return;
    this.hashesById.delete(keyId);
    this.entries.delete(hash);
  }

  private lookUp(hash: string): Promise<ApiKeyLookup | undefined> {
    const known = this.pending.get(hash);
    if (known) return known.promise;
    const lookup = makePending();
    this.pending.set(hash, lookup);
    this.queue.push(hash);
    // A turn of the event loop later, so that requests that arrived together are read together.
    if (!this.isReading && this.queue.length === 1) setImmediate(() => void this.readQueued());
    return lookup.promise;
  }

  private async readQueued(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, MAX_BATCH);
      this.forgottenWhileReading.clear();
      // What is read now may be as old as the moment the query was sent, so freshness counts from here.
      const staleAtMs = performance.now() + FRESH_MS;
      try {
        const keys = await this.apiKeys.findByHashes(batch);
        this.settle(batch, keys, staleAtMs);
      } catch (error) {
        for (const hash of batch) this.takePending(hash)?.reject(error);
      }
    }
    this.isReading = false;
  }

  private settle(batch: string[], keys: ApiKeyLookup[], staleAtMs: number): void {
    const byHash = new Map(keys.map((key) => [key.hash, key]));
    for (const hash of batch) {
      const key = byHash.get(hash);
      if (key && this.forgottenWhileReading.has(key.id)) {
        this.queue.push(hash);
        continue;
      }
      if (key) this.remember(key, staleAtMs);
      else this.entries.delete(hash);
      this.takePending(hash)?.resolve(key);
    }
  }

  private remember(key: ApiKeyLookup, staleAtMs: number): void {
    this.entries.delete(key.hash);
    this.entries.set(key.hash, { key, caller: callerOf(key), staleAtMs });
    this.hashesById.set(key.id, key.hash);
    if (this.entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.entries.values();
    if (oldest) {
      this.entries.delete(oldest.key.hash);
      this.hashesById.delete(oldest.key.id);
    }
  }

  private takePending(hash: string): PendingLookup | undefined {
    const lookup = this.pending.get(hash);
    this.pending.delete(hash);
    return lookup;
  }
}

function makePending(): PendingLookup {
  const callbacks: Partial<PendingLookup> = {};
  const promise = new Promise<ApiKeyLookup | undefined>((resolve, reject) => {
    callbacks.resolve = resolve;
    callbacks.reject = reject;
  });
  return { promise, ...callbacks } as PendingLookup;
}

function resolved(key: ApiKeyLookup, caller: Caller): ResolvedKey {
  return { caller, status: apiKeyStatus(key, Date.now()) };
}

function callerOf(key: ApiKeyLookup): Caller {
  const { keySpendLimit, tenantSpendLimit } = key;
  const isLimited = keySpendLimit !== null || tenantSpendLimit !== null;
  return {
    tenantId: key.tenantId,
    apiKeyId: key.id,
    keyType: key.type,
    rateLimitPerMinute: key.rateLimitPerMinute,
    ...(isLimited && { spendLimits: { key: keySpendLimit, tenant: tenantSpendLimit } }),
  };
}
