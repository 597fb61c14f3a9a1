import type { JsonObject } from '../../../platform/http/json-body.js';
import { mapToolId } from '../map-tool-id.js';

/** A longer id of a tool call is refused. */
const MAX_CALL_ID_LENGTH = 64;

/** A seal that names its maker is another vendor's; the dialect's own are base64. */
const FOREIGN_SEAL = /^[a-z][a-z0-9-]*:/;

/**
 * Items of earlier turns as a vendor takes them that has kept none of them. An id makes it look
 * the item up, which fails, so ids are left out; and so is reasoning that cannot be read without
 * being looked up, or that another vendor sealed.
 *
 * @returns the same array when there was nothing to change
 */
export function toReplayableItems(items: readonly JsonObject[]): readonly JsonObject[] {
  let isChanged = false;
  const replayable = items.flatMap((item) => {
    const changed = toReplayable(item);
    isChanged ||= changed !== item;
    return changed ? [changed] : [];
  });
  return isChanged ? replayable : items;
}

function toReplayable(item: JsonObject): JsonObject | undefined {
  switch (item.type ?? 'message') {
    case 'message':
      return without(item, 'id');
    case 'reasoning': {
      const seal = item.encrypted_content;
      if (typeof seal !== 'string' || seal === '' || FOREIGN_SEAL.test(seal)) return undefined;
      return without(item, 'id');
    }
    case 'function_call':
    case 'function_call_output':
      return withShortCallId(without(item, 'id', 'encrypted_content'));
    case 'custom_tool_call':
    case 'custom_tool_call_output':
      return withShortCallId(without(item, 'id', 'encrypted_content', 'status'));
    default:
      return item;
  }
}

function without(item: JsonObject, ...fields: string[]): JsonObject {
  if (!fields.some((field) => field in item)) return item;
  const rest = { ...item };
  for (const field of fields) delete rest[field];
  return rest;
}

function withShortCallId(item: JsonObject): JsonObject {
  const id = item.call_id;
  if (typeof id !== 'string' || id.length <= MAX_CALL_ID_LENGTH) return item;
  return { ...item, call_id: mapToolId(id, MAX_CALL_ID_LENGTH) };
}
