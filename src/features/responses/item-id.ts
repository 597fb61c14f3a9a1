import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../platform/http/json-body.js';

const PREFIX = 'resp_';

const RANDOM_BYTES = 24;

/** An item of the gateway's own: a prefix, its response's random part, and its place. */
const OWN_ID = /^[a-z]+_([0-9a-f]{48})(?:[0-9a-z]{1,6}|in\d{1,7})$/;

/** What vendors' ids look like; longer ones would not fit into the index. */
const VENDOR_ID = /^[\w.:=-]{1,256}$/;

/** The id of an output item. @param index its place in the output */
export function outputItemId(prefix: string, idBase: string, index: number): string {
  return `${prefix}_${idBase}${index.toString(36)}`;
}

/** The id of an input item that came without one. @param index its place in the input */
export function inputItemId(prefix: string, responseId: string, index: number): string {
  return `${prefix}_${randomPartOf(responseId)}in${index}`;
}

/** The response that an id of the gateway's own belongs to; undefined for any other id. */
export function responseIdOfItem(itemId: string): string | undefined {
  const idBase = OWN_ID.exec(itemId)?.[1];
  return idBase === undefined ? undefined : responseIdOf(idBase);
}

/** Whether text can be an id that a vendor gave to an item of its answer. */
export function isVendorItemId(text: unknown): text is string {
  return typeof text === 'string' && VENDOR_ID.test(text) && responseIdOfItem(text) === undefined;
}

/** Whether an item's id can be one of the index. */
export function isStorableId(id: unknown): boolean {
  return typeof id === 'string' && VENDOR_ID.test(id);
}

/** An id that nobody can guess, known before the answer begins. */
export function newResponseId(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
}

/** Whether text can be one of our ids; anything else need not be looked up. */
export function isResponseId(text: string): boolean {
  return /^resp_[0-9a-f]{48}$/.test(text);
}

/** What makes the id unique, for the ids of the response's items. */
export function randomPartOf(responseId: string): string {
  return responseId.slice(PREFIX.length);
}

/** The id that this random part makes unique. */
function responseIdOf(randomPart: string): string {
  return PREFIX + randomPart;
}

/** Whether an item only names another one; its type may be left out. */
export function isItemReference(item: JsonObject): boolean {
  if (item.type === 'item_reference') return true;
  return item.type == null && typeof item.id === 'string' && item.role === undefined;
}
