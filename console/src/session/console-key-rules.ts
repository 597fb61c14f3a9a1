interface ListedKey {
  id: string;
  name: string;
  is_active: boolean;
  last_used_at: string | null;
  created_at: string;
}

/** The routing key that the console creates for this tab, since sessions cannot call models. */
export interface StoredKey {
  id: string;
  key: string;
  name: string;
  tenantId: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** Name prefix that marks console keys in the key list. */
export const CONSOLE_KEY_NAME = 'Playground of ';

/** A tab without calls for this long counts as closed; if it is open, it creates another key. */
const IDLE_MS = 3_600_000;

/** Returns active keys of the same name left over from closed tabs. */
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

/** Returns whether a stored value is a key; older versions may have stored something else. */
export function isStoredKey(value: unknown): value is StoredKey {
  if (typeof value !== 'object' || value === null) return false;
  const members = new Map(Object.entries(value));
  return ['id', 'key', 'name', 'tenantId', 'expiresAt'].every(
    (name) => typeof members.get(name) === 'string',
  );
}
