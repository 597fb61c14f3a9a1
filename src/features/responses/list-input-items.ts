import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { inputItemId } from './item-id.js';

/** Page of items requested. */
export interface ItemsPage {
  limit: number;
  order: 'asc' | 'desc';
  /** Return items after this id. */
  after?: string;
}

export interface InputItemList<Item = JsonObject> {
  object: 'list';
  data: Item[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  local_shell_call: 'lsh',
  local_shell_call_output: 'lsho',
  shell_call: 'sh',
  shell_call_output: 'sho',
  apply_patch_call: 'apc',
  apply_patch_call_output: 'apco',
  tool_search_call: 'tsc',
  tool_search_output: 'tso',
  reasoning: 'rs',
};

/**
 * Returns one page of a turn's input items, with stable ids.
 * @throws NotFoundError (`after`) for an unknown id
 */
export function listInputItems(
  responseId: string,
  input: readonly JsonObject[],
  { limit, order, after }: ItemsPage,
): InputItemList {
  const items = withItemIds(responseId, input);
  if (order === 'desc') items.reverse();
  let start = 0;
  if (after !== undefined) {
    start = items.findIndex(({ id }) => id === after) + 1;
    if (start === 0)
      throw new NotFoundError('after', 'No input item of this response has this id.');
  }
  return listPage(items.slice(start), limit);
}

/** Returns a page of items and whether more follow. */
export function listPage<Item extends { id: string }>(
  items: readonly Item[],
  limit: number,
): InputItemList<Item> {
  const data = items.slice(0, limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: items.length > limit,
  };
}

/** Returns a turn's input items as they are listed. */
export function withItemIds(
  responseId: string,
  input: readonly JsonObject[],
): (JsonObject & { id: string })[] {
  return input.map((item, index) => {
    const ownId = typeof item.id === 'string' && item.id !== '' ? item.id : undefined;
    return toListed(item, ownId ?? inputItemId(prefixOf(item), responseId, index));
  });
}

/** Returns the id prefix of an item's type. */
export function prefixOf({ type }: JsonObject): string {
  return PREFIXES[typeof type === 'string' ? type : 'message'] ?? 'item';
}

/** Returns an item as it is listed: with type and id, and text as a content part. */
export function toListed(item: JsonObject, id: string): JsonObject & { id: string } {
  const type = typeof item.type === 'string' ? item.type : 'message';
  if (type !== 'message' || typeof item.content !== 'string') return { ...item, type, id };
  const partType = item.role === 'assistant' ? 'output_text' : 'input_text';
  const content = [{ type: partType, text: item.content }];
  return { ...item, type, id, content };
}
