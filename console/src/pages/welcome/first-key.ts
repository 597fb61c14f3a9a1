/** Storage key for the new API key, which survives a reload of the tab until logout. */
const nameFor = (tenantId: string | undefined): string => `gateway.first-key.${tenantId ?? ''}`;

export function readFirstKey(tenantId: string | undefined): string | undefined {
  return sessionStorage.getItem(nameFor(tenantId)) ?? undefined;
}

export function storeFirstKey(tenantId: string | undefined, key: string): void {
  sessionStorage.setItem(nameFor(tenantId), key);
}
