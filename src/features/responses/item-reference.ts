import type { JsonObject } from '../../platform/http/json-body.js';

/** Whether an item only names another one; its type may be left out. */
export function isItemReference(item: JsonObject): boolean {
  if (item.type === 'item_reference') return true;
  return item.type == null && typeof item.id === 'string' && item.role === undefined;
}
