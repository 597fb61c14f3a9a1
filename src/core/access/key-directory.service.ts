import { Injectable } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { ApiKeyRepository, type ApiKeyLookup } from './api-key.repository.js';
import { apiKeyStatus, type ApiKeyStatus } from './api-key-status.js';
import type { Caller } from './caller.js';
import { hashApiKey } from './hash-api-key.js';

/** A key in use is read again from this age on, before its requests would have to wait for that. */
const REFRESH_AFTER_MS = 400;

/** A key that exists, and what it is good for at this moment. */
export interface ResolvedKey {
  readonly caller: Caller;
  readonly status: ApiKeyStatus;
}

interface KnownKey {
  readonly key: ApiKeyLookup;
  readonly caller: Caller;
}

/** Who holds a presented key. Keys that exist are remembered for less than a second. */
@Injectable()
export class KeyDirectory {
  /** By hash. */
  private readonly keys: FreshDirectory<KnownKey>;

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

  /** Undefined: no such key. Answers at once, without a promise, where the key is known. */
  resolve(presentedKey: string): ResolvedKey | undefined | Promise<ResolvedKey | undefined> {
    if (!presentedKey.startsWith('sk-')) return undefined;
    const known = this.keys.get(hashApiKey(presentedKey));
    if (known instanceof Promise) return known.then((found) => found && resolved(found));
    return resolved(known);
  }

  /** To be called after a key's change is committed: the next request sees it. */
  forget(keyId: string): void {
    this.keys.forget(keyId);
  }
}

function resolved({ key, caller }: KnownKey): ResolvedKey {
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
