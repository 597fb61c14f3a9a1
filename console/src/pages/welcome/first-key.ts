/** The key that was just made stays in the tab, so that a reload does not cost another one; the logout clears it. */
const nameFor = (tenantId: string | undefined): string => `gateway.first-key.${tenantId ?? ''}`;

export function readFirstKey(tenantId: string | undefined): string | undefined {
  return sessionStorage.getItem(nameFor(tenantId)) ?? undefined;
}

export function keepFirstKey(tenantId: string | undefined, key: string): void {
  sessionStorage.setItem(nameFor(tenantId), key);
}
