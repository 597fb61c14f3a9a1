import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../platform/http/json-body.js';

const PREFIX = 'resp_';

const RANDOM_BYTES = 24;

/** Our own item ids: a prefix, the response's random part and the position. */
const OWN_ID = /^[a-z]+_([0-9a-f]{48})(?:[0-9a-z]{1,6}|in\d{1,7})$/;

/** Shape of vendor ids. Longer ones would not fit the index. */
const VENDOR_ID = /^[\w.:=-]{1,256}$/;

/** Returns the id of an output item. @param index position in the output */
export function outputItemId(prefix: string, idBase: string, index: number): string {
  return `${prefix}_${idBase}${index.toString(36)}`;
}

/** Returns the id of an input item without one. @param index position in the input */
export function inputItemId(prefix: string, responseId: string, index: number): string {
  return `${prefix}_${randomPartOf(responseId)}in${index}`;
}

/** Returns the response of one of our own item ids; undefined for other ids. */
export function responseIdOfItem(itemId: string): string | undefined {
  const idBase = OWN_ID.exec(itemId)?.[1];
  return idBase === undefined ? undefined : responseIdOf(idBase);
}

/** Returns whether the text can be a vendor's item id. */
export function isVendorItemId(text: unknown): text is string {
  return typeof text === 'string' && VENDOR_ID.test(text) && responseIdOfItem(text) === undefined;
}

/** Returns whether the id fits the index. */
export function isStorableId(id: unknown): boolean {
  return typeof id === 'string' && VENDOR_ID.test(id);
}

/** Returns an unguessable id, fixed before generation starts. */
export function newResponseId(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
}

/** Returns whether the text is a well-formed response id. Others need no lookup. */
export function isResponseId(text: string): boolean {
  return /^resp_[0-9a-f]{48}$/.test(text);
}

/** Returns the unique part of a response id, used in the ids of its items. */
export function randomPartOf(responseId: string): string {
  return responseId.slice(PREFIX.length);
}

/** Returns the response id with this random part. */
function responseIdOf(randomPart: string): string {
  return PREFIX + randomPart;
}

/** Returns whether the item is a reference, whose type is optional. */
export function isItemReference(item: JsonObject): boolean {
  if (item.type === 'item_reference') return true;
  return item.type == null && typeof item.id === 'string' && item.role === undefined;
}
