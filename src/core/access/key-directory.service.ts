import { Injectable } from '@nestjs/common';
import { limitedSubject } from '../../canonical/limits.js';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { boundedCache } from '../../platform/memory/bounded-cache.js';
import type { ApiKeyLookup } from './api-key-lookup.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { apiKeyStatus, type ApiKeyStatus } from './api-key.entity.js';
import type { Caller, CallerLimits, CountedKey } from './caller.js';
import { hashApiKey } from './api-key.js';
import { withheldBy } from './key-rights.js';

/** Age from which a key in use is refreshed in the background, before requests have to wait for it. */
const REFRESH_AFTER_MS = 400;

/** An existing key with its current status. */
export interface ResolvedKey {
  readonly caller: Caller;
  readonly status: ApiKeyStatus;
  /** True when the operator has suspended its tenant, so the key may only read. */
  readonly isSuspended?: boolean;
}

interface UnknownKey {
  /** Time of the latest lookup. */
  readonly sinceMs: number;
  readonly lookups: number;
}

interface KnownKey {
  readonly key: ApiKeyLookup;
  readonly caller: Caller;
}

/** An unknown hash is not looked up again for this long once `MAX_FAILED_LOOKUPS` is reached. */
const UNKNOWN_FOR_MS = 900;
/** Several lookups are allowed so that a key created just now is found at once. */
const MAX_FAILED_LOOKUPS = 3;
const MAX_UNKNOWN = 10_000;

/** Resolves presented keys. Caches results for less than a second. */
@Injectable()
export class KeyDirectory {
  /** By hash. */
  private readonly keys: FreshDirectory<KnownKey>;
  /** By hash. */
  private readonly unknown = boundedCache<string, UnknownKey>(MAX_UNKNOWN);

  constructor(apiKeys: ApiKeyRepository) {
    this.keys = new FreshDirectory<KnownKey>({
      read: async (hashes) => {
        const keys = await apiKeys.findByHashes(hashes);
        return new Map(keys.map((key) => [key.hash, { key, caller: callerOf(key) }]));
      },
      nameOf: ({ key }) => key.id,
      refreshAfterMs: REFRESH_AFTER_MS,
    });
  }

  /** Returns undefined for an unknown key. Returns known keys without a promise. */
  resolve(presentedKey: string): ResolvedKey | undefined | Promise<ResolvedKey | undefined> {
    if (!presentedKey.startsWith('sk-')) return undefined;
    return this.resolveHash(hashApiKey(presentedKey));
  }

  /** Resolves a key by its SHA-256 in hex. */
  resolveHash(hash: string): ResolvedKey | undefined | Promise<ResolvedKey | undefined> {
    if (this.unknown.size > 0 && this.isUnknown(hash)) return undefined;
    const known = this.keys.get(hash);
    if (!(known instanceof Promise)) return resolved(known);
    const sinceMs = performance.now();
    return known.then((found) => {
      if (found) return resolved(found);
      this.rememberUnknown(hash, sinceMs);
      return undefined;
    });
  }

  /** Drops a changed key from the cache. Call it after the commit. */
  forget(keyId: string): void {
    this.keys.forget(keyId);
  }

  private isUnknown(hash: string): boolean {
    const unknown = this.unknown.peek(hash);
    if (!unknown || performance.now() - unknown.sinceMs < UNKNOWN_FOR_MS) {
      return unknown !== undefined && unknown.lookups >= MAX_FAILED_LOOKUPS;
    }
    this.unknown.delete(hash);
    return false;
  }

  private rememberUnknown(hash: string, sinceMs: number): void {
    const lookups = (this.unknown.peek(hash)?.lookups ?? 0) + 1;
    this.unknown.set(hash, { sinceMs, lookups });
  }
}

function resolved({ key, caller }: KnownKey): ResolvedKey {
  const { isSuspended } = key;
  return { caller, status: apiKeyStatus(key, Date.now()), isSuspended };
}

function callerOf(key: ApiKeyLookup): Caller {
  const { keySpendLimit, tenantSpendLimit } = key;
  const isLimited = keySpendLimit !== null || tenantSpendLimit !== null;
  const limits = limitsOf(key);
  const countsOn = key.ancestors ? countedKeys(key, key.ancestors) : undefined;
  const withheld = withheldBy([key, ...(key.ancestors ?? [])]);
  return {
    tenantId: key.tenantId,
    apiKeyId: key.id,
    keyType: key.type,
    keyName: key.name,
    rateLimitPerMinute: countsOn?.[0]?.rateLimitPerMinute ?? key.rateLimitPerMinute,
    ...(key.contentLog !== null && { contentLog: key.contentLog }),
    ...(key.recovery !== null && { recovery: key.recovery }),
    ...(countsOn && { countsOn, ancestorIds: key.ancestors?.map(({ id }) => id) }),
    ...(withheld.length > 0 && { withheld }),
    ...(isLimited && { spendLimits: { key: keySpendLimit, tenant: tenantSpendLimit } }),
    ...(limits && { limits }),
  };
}

/** Undefined when nothing limits the key. */
function limitsOf(key: ApiKeyLookup): CallerLimits | undefined {
  const { ancestors, endUserLimits, hasEndUserLimits } = key;
  const subjects = [
    ...[key, ...(ancestors ?? [])].map(({ id, limits }) => limitedSubject('api_key', id, limits)),
    limitedSubject('tenant', key.tenantId, key.tenantLimits),
  ].filter((subject) => subject !== undefined);
  const areLimited = endUserLimits !== null || hasEndUserLimits;
  if (subjects.length === 0 && !areLimited) return undefined;
  const endUsers = { each: endUserLimits, areSome: hasEndUserLimits };
  return { subjects, ...(areLimited && { endUsers }) };
}

/**
 * Returns the keys of a chain that requests must be counted on, nearest first. A key with the same or a higher
 * limit than an ancestor is left out, since the ancestor's count covers it.
 */
function countedKeys(key: ApiKeyLookup, ancestors: readonly CountedKey[]): CountedKey[] {
  const { id, rateLimitPerMinute } = key;
  const counted: CountedKey[] = [];
  for (const each of [{ id, rateLimitPerMinute }, ...ancestors].reverse()) {
    const [nearest] = counted;
    if (nearest && each.rateLimitPerMinute >= nearest.rateLimitPerMinute) continue;
    counted.unshift({ id: each.id, rateLimitPerMinute: each.rateLimitPerMinute });
  }
  return counted;
}
