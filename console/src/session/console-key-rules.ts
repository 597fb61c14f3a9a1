interface ListedKey {
  id: string;
  name: string;
  is_active: boolean;
  last_used_at: string | null;
  created_at: string;
}

/** A routing key that the console made for the person in this tab, as sessions call no models. */
export interface StoredKey {
  id: string;
  key: string;
  name: string;
  tenantId: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** By the start of its name everybody sees what such a key is for. */
export const CONSOLE_KEY_NAME = 'Playground of ';

/** A tab that has made no call for so long is taken to be closed. One that is not makes another key. */
const IDLE_MS = 3_600_000;

/** Keys of the same name that were left behind by tabs which are gone. */
export function staleKeys<Key extends ListedKey>(
  keys: readonly Key[],
  { name, ownId, now }: { name: string; ownId: string; now: number },
): Key[] {
  return keys.filter(
    (key) =>
      key.name === name &&
      key.id !== ownId &&
      key.is_active &&
      now - Date.parse(key.last_used_at ?? key.created_at) > IDLE_MS,
  );
}

/** Whether what was stored is a key; an older console may have stored something else. */
export function isStoredKey(value: unknown): value is StoredKey {
  if (typeof value !== 'object' || value === null) return false;
  const members = new Map(Object.entries(value));
  return ['id', 'key', 'name', 'tenantId', 'expiresAt'].every(
    (name) => typeof members.get(name) === 'string',
  );
}
