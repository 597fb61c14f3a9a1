import { useSyncExternalStore } from 'react';
import { api, ApiError } from '../api/client';
import { CONSOLE_KEY_NAME, isStoredKey, staleKeys, type StoredKey } from './console-key-rules';

const STORED_KEYS = 'gateway.console-keys';
export const KEY_HOURS = 8;
/** Credits: 1 USD. */
export const KEY_BUDGET = 1_000_000;
const CALLS_A_MINUTE = 60;

let keys: readonly StoredKey[] = readKeys();
const listeners = new Set<() => void>();
/** Keys being created, by tenant, so that parallel calls share one. */
const pendingKeys = new Map<string, Promise<StoredKey>>();

/** Returns this tab's key for a tenant; undefined until one is needed. */
export function useConsoleKey(tenantId: string | undefined): StoredKey | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => keyOf(tenantId),
  );
}

/**
 * Runs `work` with this tab's key, creating one if needed. Retries once with a new key after a 401, which
 * means that the key was revoked.
 *
 * @param owner name of the person, used in the key's name
 * @throws ApiError if no key could be created
 */
export async function withConsoleKey<Outcome extends { error: Error | null }>(
  tenantId: string,
  owner: string,
  work: (key: string) => Promise<Outcome>,
): Promise<Outcome> {
  const known = keyOf(tenantId) ?? (await createOnce(tenantId, owner));
  const outcome = await work(known.key);
  if (!(outcome.error instanceof ApiError) || outcome.error.status !== 401) return outcome;
  if (keyOf(tenantId)?.id === known.id) forget(known.id);
  return work((keyOf(tenantId) ?? (await createOnce(tenantId, owner))).key);
}

/** Revokes this tab's key for a tenant. */
export async function endConsoleKey({ id, tenantId }: StoredKey): Promise<void> {
  await revoke(id, tenantId);
  forget(id);
}

/** Revokes the keys for all tenants at logout; keys that cannot be revoked expire. */
export async function endConsoleKeys(): Promise<void> {
  await Promise.allSettled(keys.map((key) => endConsoleKey(key)));
}

/** Drops the keys of the previous person in this tab; they expire. */
export function forgetConsoleKeys(): void {
  store([]);
}

function createOnce(tenantId: string, owner: string): Promise<StoredKey> {
  const running = pendingKeys.get(tenantId);
  if (running) return running;
  const creation = createKey(tenantId, owner).finally(() => pendingKeys.delete(tenantId));
  pendingKeys.set(tenantId, creation);
  return creation;
}

async function createKey(tenantId: string, owner: string): Promise<StoredKey> {
  const name = (CONSOLE_KEY_NAME + owner).slice(0, 255);
  const headers = { 'X-Gateway-Tenant': tenantId };
  const created = await api.POST('/v1/customer/api-keys', {
    headers,
    body: {
      name,
      expires_at: new Date(Date.now() + KEY_HOURS * 3_600_000).toISOString(),
      rate_limit_per_minute: CALLS_A_MINUTE,
      limits: { budgets: [{ period: 'total', credits: KEY_BUDGET }] },
    },
  });
  const key: StoredKey = {
    id: created.id,
    key: created.key,
    name,
    tenantId,
    expiresAt: created.expires_at ?? '',
  };
  store([...keys.filter((other) => other.tenantId !== tenantId), key]);
  // Best effort: closed tabs cannot revoke their keys.
  void revokeStaleKeys(name, tenantId, created.id).catch(() => {});
  return key;
}

async function revokeStaleKeys(name: string, tenantId: string, ownId: string): Promise<void> {
  const headers = { 'X-Gateway-Tenant': tenantId };
  const { data } = await api.GET('/v1/customer/api-keys', { headers });
  const stale = staleKeys(data, { name, ownId, now: Date.now() });
  await Promise.allSettled(stale.map(({ id }) => revoke(id, tenantId)));
}

async function revoke(id: string, tenantId: string): Promise<void> {
  try {
    await api.DELETE('/v1/customer/api-keys/{id}', {
      params: { path: { id } },
      headers: { 'X-Gateway-Tenant': tenantId },
    });
  } catch (error) {
    // 404: already revoked.
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}

function keyOf(tenantId: string | undefined): StoredKey | undefined {
  return keys.find((key) => key.tenantId === tenantId && Date.parse(key.expiresAt) > Date.now());
}

function forget(id: string): void {
  store(keys.filter((key) => key.id !== id));
}

function store(next: readonly StoredKey[]): void {
  keys = next;
  sessionStorage.setItem(STORED_KEYS, JSON.stringify(keys));
  for (const listener of listeners) listener();
}

function readKeys(): StoredKey[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED_KEYS) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isStoredKey) : [];
  } catch {
    return [];
  }
}
