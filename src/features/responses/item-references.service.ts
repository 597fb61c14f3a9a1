import { Injectable } from '@nestjs/common';
import { InvalidRequestError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { RequestRoom } from '../../platform/http/request-room.js';
import { itemsOfInput } from './complete-body.js';
import { MAX_CONTEXT_BYTES } from './conversations.service.js';
import { isVendorItemId, responseIdOfItem, isItemReference } from './item-id.js';
import { withItemIds } from './list-input-items.js';
import {
  StoredResponsesRepository,
  type ReferredRow,
  type Conversation,
} from './stored-responses.repository.js';

/** Maximum number of distinct references per request. */
const MAX_REFERENCES = 10_000;

/** Responses up to this size are loaded in the first query. */
const SMALL_BYTES = 262_144;

const MAX_MEGABYTES = MAX_CONTEXT_BYTES / 1_000_000;

/** A request's items with all references resolved. */
export interface ResolvedItems {
  conversation: Conversation | undefined;
  /** Items of the request's own input. */
  ownItems: readonly JsonObject[];
}

/** Resolves references to items of stored responses. */
@Injectable()
export class ItemReferencesService {
  constructor(private readonly repository: StoredResponsesRepository) {}

  /**
   * Replaces references with their items, in one query. Excludes items of failed responses, which
   * may be incomplete.
   * @param input the request's validated items
   * @throws NotFoundError naming the first unknown reference
   * @throws InvalidRequestError for a reference without an id, or when the items are too large
   * @throws OverloadedError when memory is insufficient
   */
  async resolve(
    tenantId: string,
    input: unknown,
    conversation: Conversation | undefined,
    room: RequestRoom,
  ): Promise<ResolvedItems> {
    const ownItems = itemsOfInput(input);
    const history = conversation?.items ?? [];
    for (const [index, item] of ownItems.entries()) {
      if (!isItemReference(item) || typeof item.id === 'string') continue;
      const param = `input.${index}.id`;
      throw new InvalidRequestError(param, `\`${param}\` must be a string.`);
    }
    const referred = [...history, ...ownItems].filter(isItemReference).map(({ id }) => id);
    const ids = new Set(referred.filter((id) => typeof id === 'string'));
    if (ids.size === 0) return { conversation, ownItems };
    if (ids.size > MAX_REFERENCES) {
      throw new InvalidRequestError(
        'input',
        `A request can refer to at most ${MAX_REFERENCES} items. Send the items themselves.`,
      );
    }

    const found = new FoundItems(await this.find(tenantId, [...ids], room), ids, room);
    const items = history.map((item) => found.replace(item, () => 'previous_response_id'));
    return {
      conversation: conversation && { ...conversation, items },
      ownItems: ownItems.map((item, index) => found.replace(item, () => `input.${index}.id`)),
    };
  }

  private async find(
    tenantId: string,
    itemIds: readonly string[],
    room: RequestRoom,
  ): Promise<ReferredRow[]> {
    const inputsOf = new Set<string>();
    const responseIds = new Set<string>();
    for (const itemId of itemIds) {
      const responseId = responseIdOfItem(itemId);
      if (responseId === undefined) continue;
      responseIds.add(responseId);
      // Only input item ids contain `in`: everything before it is hexadecimal.
      if (/in\d+$/.test(itemId)) inputsOf.add(responseId);
    }
    const vendorItemIds = itemIds.filter(isVendorItemId);
    if (responseIds.size === 0 && vendorItemIds.length === 0) return [];
    const find = (maxBytes: number): Promise<ReferredRow[]> =>
      this.repository.findReferred(tenantId, {
        responseIds: [...responseIds],
        inputsOf: [...inputsOf],
        vendorItemIds,
        maxBytes,
      });
    const rows = await find(SMALL_BYTES);
    const { bytes = 0 } = rows[0] ?? {};
    if (bytes > MAX_CONTEXT_BYTES) throw tooLarge();
    room.take(bytes);
    return bytes <= SMALL_BYTES ? rows : room.inTurn(bytes, () => find(MAX_CONTEXT_BYTES));
  }
}

/** Items of the loaded rows, with the total size of those inserted so far. */
class FoundItems {
  private readonly items = new Map<string, JsonObject>();
  private readonly sizes = new Map<string, number>();
  private usedBytes = 0;

  /** @param rows newest first; their items take precedence over older ones */
  constructor(
    rows: readonly ReferredRow[],
    wanted: ReadonlySet<string>,
    private readonly room: RequestRoom,
  ) {
    for (const { id, output_items: output, input_items: input } of rows) {
      const items = itemsOfInput(JSON.parse(output ?? '[]'));
      if (input !== null) items.push(...withItemIds(id, itemsOfInput(JSON.parse(input))));
      for (const item of items) {
        const { id: itemId } = item;
        if (typeof itemId !== 'string' || !wanted.has(itemId) || this.items.has(itemId)) continue;
        // References resolve to items, never to other references.
        if (!isItemReference(item)) this.items.set(itemId, item);
      }
    }
  }

  replace(item: JsonObject, paramOf: () => string): JsonObject {
    const { id } = item;
    if (!isItemReference(item) || typeof id !== 'string') return item;
    const found = this.items.get(id);
    if (!found) {
      throw new NotFoundError(
        paramOf(),
        `There is no stored item ${JSON.stringify(id.slice(0, 80))}. Its response may have been deleted, or created with \`store: false\`.`,
      );
    }
    const known = this.sizes.get(id);
    const size = known ?? Buffer.byteLength(JSON.stringify(found));
    this.sizes.set(id, size);
    this.usedBytes += size;
    if (this.usedBytes > MAX_CONTEXT_BYTES) throw tooLarge();
    // An item loaded once can be inserted many times.
    if (known !== undefined) this.room.take(size);
    return found;
  }
}

function tooLarge(): InvalidRequestError {
  return new InvalidRequestError(
    'input',
    `The items that \`input\` refers to are larger than ${MAX_MEGABYTES} MB. Refer to fewer items.`,
  );
}
