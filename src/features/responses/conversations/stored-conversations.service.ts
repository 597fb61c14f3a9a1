import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { InvalidRequestError, NotFoundError } from '../../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from '../../../platform/http/json-body.js';
import type { RequestRoom } from '../../../platform/http/request-room.js';
import { assertValidBody, compileSchema } from '../../../platform/http/validate-body.js';
import { PromptMeter } from '../../../canonical/prompt-size.js';
import { MAX_CONTEXT_BYTES } from '../conversations.service.js';
import { createResponseSchema } from '../create-response.schema.js';
import { isItemReference } from '../item-id.js';
import {
  listPage,
  prefixOf,
  toListed,
  type InputItemList,
  type ItemsPage,
} from '../list-input-items.js';
import { measureItems } from '../measure-responses-prompt.js';
import type { Conversation } from '../stored-responses.repository.js';
import {
  StoredConversationsRepository,
  type ConversationRow,
  type ItemPlace,
  type ListedItem,
} from './stored-conversations.repository.js';

const RANDOM_BYTES = 24;
/** Maximum number of items per request. */
const MAX_ITEMS = 20;
/** Bytes of list items that are read and sent together. */
const MAX_PIECE_BYTES = 1_000_000;

const items = {
  type: ['array', 'null'],
  items: { type: 'object' },
  maxItems: MAX_ITEMS,
  description: 'Messages, function calls, outputs and reasoning; at most 20.',
} as const;

const { metadata } = createResponseSchema.properties;

export const createConversationSchema = {
  title: 'ConversationRequest',
  type: 'object',
  properties: { items, metadata },
} as const;
export const updateConversationSchema = {
  title: 'ConversationUpdate',
  type: 'object',
  required: ['metadata'],
  properties: { metadata },
} as const;
export const createItemsSchema = {
  title: 'ConversationItemsRequest',
  type: 'object',
  required: ['items'],
  properties: { items: { ...items, type: 'array', minItems: 1 } },
} as const;

const validateCreate = compileSchema(createConversationSchema);
const validateUpdate = compileSchema(updateConversationSchema);
const validateItems = compileSchema(createItemsSchema);

/** Conversations with their own id. Their content is kept for later responses. */
@Injectable()
export class StoredConversationsService {
  constructor(private readonly repository: StoredConversationsRepository) {}

  /** @throws InvalidRequestError naming the invalid field */
  async create({ tenantId }: Caller, body: JsonBody): Promise<JsonObject> {
    assertValidBody(validateCreate, body);
    const row: ConversationRow = {
      id: newId('conv'),
      metadata: JSON.stringify(body.value.metadata ?? {}),
      createdAt: new Date(),
    };
    await this.repository.insert(tenantId, row, readItems(body.value.items ?? []));
    return render(row);
  }

  /** @throws NotFoundError (`id`) */
  async retrieve({ tenantId }: Caller, id: string): Promise<JsonObject> {
    return render(found(id, await this.repository.find(tenantId, id)));
  }

  /** Replaces the metadata. @throws NotFoundError (`id`) */
  async update({ tenantId }: Caller, id: string, body: JsonBody): Promise<JsonObject> {
    assertValidBody(validateUpdate, body);
    const kept = JSON.stringify(body.value.metadata ?? {});
    return render(found(id, await this.repository.setMetadata(tenantId, id, kept)));
  }

  /**
   * Deletes a conversation with its items. Responses created in it stay.
   * @throws NotFoundError (`id`)
   */
  async delete({ tenantId }: Caller, id: string): Promise<JsonObject> {
    if (!(await this.repository.delete(tenantId, id))) throw notFound(id);
    return { id, object: 'conversation.deleted', deleted: true };
  }

  /**
   * Yields the JSON of a page in chunks, since a page can have 40 MB.
   * @throws NotFoundError (`id` or `after`) before the first chunk
   */
  async *listItems(
    { tenantId }: Caller,
    id: string,
    page: ItemsPage,
    room: RequestRoom,
  ): AsyncGenerator<string> {
    found(id, await this.repository.find(tenantId, id));
    const places = await this.repository.findPlaces(id, page);
    if (!places) throw new NotFoundError('after', 'No item of this conversation has this id.');
    const { object, data, ...rest } = listPage(places, page.limit);
    const pieces = toPieces(data);
    room.take(Math.max(0, ...pieces.map(({ bytes }) => bytes)));
    let before = `{"object":${JSON.stringify(object)},"data":[`;
    for (const piece of pieces) {
      const texts = await this.findItems(id, piece, room, page.order);
      if (texts.length === 0) continue;
      yield before + texts.join();
      before = ',';
    }
    yield `${before === ',' ? '' : before}],${JSON.stringify(rest).slice(1)}`;
  }

  /** Appends items. @throws NotFoundError (`id`) */
  async addItems({ tenantId }: Caller, id: string, body: JsonBody): Promise<InputItemList> {
    assertValidBody(validateItems, body);
    const added = readItems(body.value.items);
    await this.assertRoom(tenantId, id);
    if (!(await this.repository.add(tenantId, id, newId('batch'), added))) throw notFound(id);
    return listPage(added, added.length);
  }

  /**
   * Yields the JSON of an item.
   * @throws NotFoundError (`id` or `item_id`) before the first chunk
   */
  async *retrieveItem(
    { tenantId }: Caller,
    id: string,
    itemId: string,
    room: RequestRoom,
  ): AsyncGenerator<string> {
    found(id, await this.repository.find(tenantId, id));
    const place = await this.repository.findPlace(id, itemId);
    if (!place) throw noItem(itemId);
    const { bytes } = place;
    room.take(bytes);
    const [text] = await this.findItems(id, { places: [place], bytes }, room);
    if (text === undefined) throw noItem(itemId);
    yield text;
  }

  /** @returns the conversation @throws NotFoundError (`id` or `item_id`) */
  async deleteItem({ tenantId }: Caller, id: string, itemId: string): Promise<JsonObject> {
    const row = found(id, await this.repository.find(tenantId, id));
    if (!(await this.repository.deleteItem(id, itemId))) throw noItem(itemId);
    return render(row);
  }

  /**
   * Loads the conversation for a new response.
   * @throws NotFoundError (`conversation`), or InvalidRequestError when it is too large
   * @throws OverloadedError when memory is insufficient
   */
  async load(tenantId: string, id: string, room: RequestRoom): Promise<Conversation> {
    const contextBytes = await this.assertRoom(tenantId, id, 'conversation');
    room.take(contextBytes);
    const items = await room.inTurn(contextBytes, async () =>
      (await this.repository.findAll(id)).map(readItem),
    );
    return { previousResponseId: null, conversationId: id, storedIn: id, contextBytes, items };
  }

  private findItems(
    id: string,
    { places, bytes }: Piece,
    room: RequestRoom,
    order: ItemsPage['order'] = 'asc',
  ): Promise<string[]> {
    return room.inTurn(bytes, () => this.repository.findItems(id, places, order));
  }

  private async assertRoom(tenantId: string, id: string, param = 'id'): Promise<number> {
    const bytes = await this.repository.measure(tenantId, id);
    if (bytes === undefined) throw notFound(id, param);
    if (bytes <= MAX_CONTEXT_BYTES) return bytes;
    throw new InvalidRequestError(
      param,
      `The conversation is larger than ${MAX_CONTEXT_BYTES / 1_000_000} MB. Delete some of its items, or start a new one.`,
    );
  }
}

/** Items that are read together. */
interface Piece {
  readonly places: readonly ItemPlace[];
  readonly bytes: number;
}

/** Groups items into chunks of bounded size. A larger item is its own chunk. */
function toPieces(places: readonly ItemPlace[]): Piece[] {
  const pieces: (Piece & { places: ItemPlace[]; bytes: number })[] = [];
  for (const place of places) {
    const last = pieces.at(-1);
    if (!last || last.bytes + place.bytes > MAX_PIECE_BYTES) {
      pieces.push({ places: [place], bytes: place.bytes });
      continue;
    }
    last.places.push(place);
    last.bytes += place.bytes;
  }
  return pieces;
}

/** Returns the id in a body's `conversation`; undefined when absent. @throws InvalidRequestError */
export function readConversationId(conversation: unknown): string | undefined {
  if (conversation == null) return undefined;
  if (typeof conversation === 'string') return conversation;
  if (isJsonObject(conversation) && typeof conversation.id === 'string') return conversation.id;
  throw new InvalidRequestError(
    'conversation',
    '`conversation` must be the id of a conversation, or an object with its `id`.',
  );
}

/** Reads the items and assigns them ids. @throws InvalidRequestError naming the invalid item */
function readItems(given: readonly JsonObject[]): ListedItem[] {
  const reference = given.findIndex(isItemReference);
  if (reference !== -1) {
    throw new InvalidRequestError(
      `items.${reference}`,
      'Conversations store items, not references. Send the item itself.',
    );
  }
  const bound = measureItems(given, (index) => `items.${index}`, new PromptMeter());
  if (bound) throw new InvalidRequestError(bound.param, bound.message);
  return given.map((item) => {
    const id = newId(prefixOf(item));
    const isMessage = item.type == null || item.type === 'message';
    return toListed({ ...item, ...(isMessage && { status: 'completed' }), id }, id);
  });
}

function newId(prefix: string): string {
  return `${prefix}_${randomBytes(RANDOM_BYTES).toString('hex')}`;
}

function readItem(text: string): ListedItem {
  const item: unknown = JSON.parse(text);
  if (isJsonObject(item) && typeof item.id === 'string') return { ...item, id: item.id };
  throw new Error('a stored conversation item is malformed');
}

function render({ id, metadata: kept, createdAt }: ConversationRow): JsonObject {
  return {
    id,
    object: 'conversation',
    created_at: Math.floor(createdAt.getTime() / 1000),
    metadata: JSON.parse(kept),
  };
}

function found(id: string, row: ConversationRow | undefined): ConversationRow {
  if (row) return row;
  throw notFound(id);
}

function notFound(id: string, param = 'id'): NotFoundError {
  return new NotFoundError(
    param,
    `There is no conversation ${JSON.stringify(id.slice(0, 80))}. It may have been deleted, or expired without use.`,
  );
}

function noItem(itemId: string): NotFoundError {
  return new NotFoundError(
    'item_id',
    `The conversation has no item ${JSON.stringify(itemId.slice(0, 80))}. It may have been deleted.`,
  );
}
