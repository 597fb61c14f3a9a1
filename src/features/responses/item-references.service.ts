import { Injectable } from '@nestjs/common';
import { InvalidRequestError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { itemsOfInput } from './complete-body.js';
import { MAX_CONTEXT_BYTES } from './conversations.service.js';
import { isVendorItemId, responseIdOfItem, isItemReference } from './item-id.js';
import { withItemIds } from './list-input-items.js';
import {
  StoredResponsesRepository,
  type ReferredRow,
  type Conversation,
} from './stored-responses.repository.js';

/** Different items that one request may refer to. */
const MAX_REFERENCES = 10_000;

const MAX_MEGABYTES = MAX_CONTEXT_BYTES / 1_000_000;

/** What a request says, every reference in it replaced by the item. */
export interface ResolvedItems {
  conversation: Conversation | undefined;
  /** The request's own items. */
  ownItems: readonly JsonObject[];
}

/** Looks up the items of stored responses that a request refers to by their ids. */
@Injectable()
export class ItemReferencesService {
  constructor(private readonly repository: StoredResponsesRepository) {}

  /**
   * Puts the items in the place of references to them, with one query for all. Items of failed
   * responses are not there, since they may be incomplete.
   *
   * @param input the request's own, which has been checked
   * @throws NotFoundError naming the first reference to what is not the tenant's, or is gone
   * @throws InvalidRequestError for a reference without an id, or when there is too much to load
   */
  async resolve(
    tenantId: string,
    input: unknown,
    conversation: Conversation | undefined,
  ): Promise<ResolvedItems> {
    const ownItems = itemsOfInput(input);
    const history = conversation?.items ?? [];
    for (const [index, item] of ownItems.entries()) {
      if (!isItemReference(item) || typeof item.id === 'string') continue;
      const param = `input.${index}.id`;
      throw new InvalidRequestError(param, `\`${param}\` must be a string.`);
    }
    const ids = new Set(
      [...history, ...ownItems].filter(isItemReference).map(({ id }) => id as string),
    );
    if (ids.size === 0) return { conversation, ownItems };
    if (ids.size > MAX_REFERENCES) {
      throw new InvalidRequestError(
        'input',
        `A request may refer to ${MAX_REFERENCES} items at most; send the items themselves.`,
      );
    }

    const found = new FoundItems(await this.find(tenantId, [...ids]), ids);
    const items = history.map((item) => found.replace(item, () => 'previous_response_id'));
    return {
      conversation: conversation && { ...conversation, items },
      ownItems: ownItems.map((item, index) => found.replace(item, () => `input.${index}.id`)),
    };
  }

  private async find(tenantId: string, itemIds: readonly string[]): Promise<ReferredRow[]> {
    const inputsOf = new Set<string>();
    const responseIds = new Set<string>();
    for (const itemId of itemIds) {
      const responseId = responseIdOfItem(itemId);
      if (responseId === undefined) continue;
      responseIds.add(responseId);
      // Only the ids of input items have this in them: all before it is hexadecimal.
      if (/in\d+$/.test(itemId)) inputsOf.add(responseId);
    }
    const vendorItemIds = itemIds.filter(isVendorItemId);
    if (responseIds.size === 0 && vendorItemIds.length === 0) return [];
    const rows = await this.repository.findReferred(tenantId, {
      responseIds: [...responseIds],
      inputsOf: [...inputsOf],
      vendorItemIds,
      maxBytes: MAX_CONTEXT_BYTES,
    });
    if (rows.some(({ fits }) => !fits)) throw tooLarge();
    return rows;
  }
}

/** The items of the rows that are referred to, and how much of them has been put in place. */
class FoundItems {
  private readonly items = new Map<string, JsonObject>();
  private readonly sizes = new Map<string, number>();
  private usedBytes = 0;

  /** @param rows newest first, whose items go before those of older ones */
  constructor(rows: readonly ReferredRow[], wanted: ReadonlySet<string>) {
    for (const { id, output_items: output, input_items: input } of rows) {
      const items = JSON.parse(output ?? '[]') as JsonObject[];
      if (input !== null) items.push(...withItemIds(id, itemsOfInput(JSON.parse(input))));
      for (const item of items) {
        const isNew = wanted.has(item.id as string) && !this.items.has(item.id as string);
        // A reference leads to an item, never to another reference.
        if (isNew && !isItemReference(item)) this.items.set(item.id as string, item);
      }
    }
  }

  replace(item: JsonObject, paramOf: () => string): JsonObject {
    if (!isItemReference(item)) return item;
    const id = item.id as string;
    const found = this.items.get(id);
    if (!found) {
      throw new NotFoundError(
        paramOf(),
        `There is no stored item ${JSON.stringify(id.slice(0, 80))}; its response may have been deleted, or made with \`store: false\`.`,
      );
    }
    const size = this.sizes.get(id) ?? Buffer.byteLength(JSON.stringify(found));
    this.sizes.set(id, size);
    this.usedBytes += size;
    if (this.usedBytes > MAX_CONTEXT_BYTES) throw tooLarge();
    return found;
  }
}

function tooLarge(): InvalidRequestError {
  return new InvalidRequestError(
    'input',
    `The items that \`input\` refers to are larger than ${MAX_MEGABYTES} MB; refer to fewer of them.`,
  );
}
