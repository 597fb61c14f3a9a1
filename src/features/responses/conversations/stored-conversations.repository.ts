import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, MoreThan, Repository } from 'typeorm';
import type { Pool, PoolClient } from 'pg';
import { Database } from '../../../platform/database/database.js';
import { toStoredText } from '../../../platform/database/stored-text.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { ConversationEntity } from './conversation.entity.js';
import { ConversationItemEntity } from './conversation-item.entity.js';
import type { ItemsPage } from '../list-input-items.js';

export type ConversationRow = Pick<ConversationEntity, 'id' | 'metadata' | 'createdAt'>;

/** A stored item with the id that it is listed under. */
export type ListedItem = JsonObject & { id: string };

/** Where an item is kept, and how long its JSON text is. */
export type ItemPlace = Pick<ConversationItemEntity, 'id' | 'sequence' | 'bytes'>;

const DIRECTIONS = { asc: 'ASC', desc: 'DESC' } as const;

/** All columns but the item itself, which may be long. */
const PLACE = {
  ...{ conversationId: true, batchId: true, position: true },
  ...{ id: true, sequence: true, bytes: true },
} as const;

/**
 * Builds SQL that appends items to a conversation as one block. Concurrent appends come before or
 * after it. Appends nothing when the conversation was deleted.
 * @param parameters placeholders of the conversation id, the tenant id, the batch id and
 * `itemRows`
 */
export function addItemsSql(parameters: {
  conversation: string;
  tenant: string;
  batch: string;
  rows: string;
}): { known: string; insert: string } {
  const { conversation, tenant, batch, rows } = parameters;
  return {
    known: `UPDATE conversations SET used_at = now()
      WHERE id = ${conversation} AND tenant_id = ${tenant} RETURNING id`,
    insert: `INSERT INTO conversation_items (conversation_id, batch_id, position, id, item, bytes)
      SELECT known.id, ${batch}, place, entry ->> 'id', entry ->> 'item',
        octet_length(entry ->> 'item')
      FROM known, json_array_elements(${rows}::json) WITH ORDINALITY AS given (entry, place)
      ORDER BY place
      ON CONFLICT DO NOTHING`,
  };
}

/**
 * Encodes items for `addItemsSql`. JSON within a JSON string, since PostgreSQL cannot store NUL
 * from JSON.
 */
export function itemRows(items: readonly ListedItem[]): string {
  return JSON.stringify(items.map((item) => ({ id: item.id, item: JSON.stringify(item) })));
}

/** Stores conversations and their items by tenant. */
@Injectable()
export class StoredConversationsRepository {
  constructor(
    @InjectRepository(ConversationEntity)
    private readonly conversations: Repository<ConversationEntity>,
    @InjectRepository(ConversationItemEntity)
    private readonly items: Repository<ConversationItemEntity>,
    private readonly database: Database,
  ) {}

  async insert(
    tenantId: string,
    row: ConversationRow,
    items: readonly ListedItem[],
  ): Promise<void> {
    await this.database.transaction(async (client) => {
      const conversation = { ...row, tenantId, usedAt: row.createdAt };
      await this.database.within(client, this.conversations).insert(conversation);
      if (items.length > 0) await this.addWith(client, tenantId, row.id, row.id, items);
    });
  }

  async find(tenantId: string, id: string): Promise<ConversationRow | undefined> {
    return (await this.conversations.findOneBy({ id, tenantId })) ?? undefined;
  }

  async setMetadata(
    tenantId: string,
    id: string,
    metadata: string,
  ): Promise<ConversationRow | undefined> {
    await this.conversations.update({ id, tenantId }, { metadata, usedAt: () => 'now()' });
    return this.find(tenantId, id);
  }

  /** Deletes a conversation with its items. @returns whether it existed */
  async delete(tenantId: string, id: string): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const conversations = this.database.within(client, this.conversations);
      const { affected } = await conversations.delete({ id, tenantId });
      if (affected !== 1) return false;
      await this.database.within(client, this.items).delete({ conversationId: id });
      return true;
    });
  }

  /** @param batchId unique per call @returns whether the conversation exists */
  add(
    tenantId: string,
    id: string,
    batchId: string,
    items: readonly ListedItem[],
  ): Promise<boolean> {
    return this.addWith(this.database.pool, tenantId, id, batchId, items);
  }

  /** Returns the size in bytes; undefined when the conversation does not exist. */
  async measure(tenantId: string, id: string): Promise<number | undefined> {
    const { rows } = await this.database.query<{ bytes: number }>(
      `SELECT (SELECT coalesce(sum(bytes), 0)::bigint FROM conversation_items
               WHERE conversation_id = conversations.id) AS bytes
       FROM conversations WHERE id = $1 AND tenant_id = $2`,
      [toStoredText(id), tenantId],
    );
    return rows[0]?.bytes;
  }

  /** Returns the JSON of all items in order. The conversation must exist. */
  async findAll(id: string): Promise<string[]> {
    const { rows } = await this.database.query<{ item: string }>(
      'SELECT item FROM conversation_items WHERE conversation_id = $1 ORDER BY sequence',
      [id],
    );
    return rows.map(({ item }) => item);
  }

  /**
   * Returns the items of a page, plus one if there are more. Undefined when `after` is not found.
   */
  async findPlaces(
    id: string,
    { limit, order, after }: ItemsPage,
  ): Promise<ItemPlace[] | undefined> {
    const from = after === undefined ? undefined : await this.findPlace(id, after);
    if (after !== undefined && from === undefined) return undefined;
    const beyond = order === 'asc' ? MoreThan : LessThan;
    return this.items.find({
      select: PLACE,
      where: { conversationId: id, ...(from && { sequence: beyond(from.sequence) }) },
      order: { sequence: order },
      take: limit + 1,
    });
  }

  async findPlace(id: string, itemId: string): Promise<ItemPlace | undefined> {
    const where = { conversationId: id, id: itemId };
    const order = { sequence: 'ASC' } as const;
    return (await this.items.findOne({ select: PLACE, where, order })) ?? undefined;
  }

  /** Returns the JSON of these items in order, without those deleted in the meantime. */
  async findItems(
    id: string,
    places: readonly ItemPlace[],
    order: ItemsPage['order'],
  ): Promise<string[]> {
    const { rows } = await this.database.query<{ item: string }>(
      `SELECT item FROM conversation_items WHERE conversation_id = $1 AND sequence = ANY ($2::bigint[])
       ORDER BY sequence ${DIRECTIONS[order]}`,
      [id, places.map(({ sequence }) => sequence)],
    );
    return rows.map(({ item }) => item);
  }

  async deleteItem(id: string, itemId: string): Promise<boolean> {
    const { affected } = await this.items.delete({ conversationId: id, id: itemId });
    return (affected ?? 0) > 0;
  }

  /** Deletes up to `maxRows` conversations last used before the instant. @returns their number */
  async sweep(before: Date, maxRows: number): Promise<number> {
    const { rows } = await this.database.query<{ deleted: number }>(
      `WITH old AS (
         SELECT id FROM conversations WHERE used_at < $1
         ORDER BY used_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
       ), gone AS (
         DELETE FROM conversations USING old WHERE conversations.id = old.id
       ), items AS (
         DELETE FROM conversation_items USING old WHERE conversation_id = old.id
       )
       SELECT count(*) AS deleted FROM old`,
      [before, maxRows],
    );
    return rows[0]!.deleted;
  }

  private async addWith(
    client: Pool | PoolClient,
    tenantId: string,
    id: string,
    batchId: string,
    items: readonly ListedItem[],
  ): Promise<boolean> {
    const { known, insert } = addItemsSql({
      conversation: '$1::text',
      tenant: '$2::uuid',
      batch: '$3::text',
      rows: '$4',
    });
    const { rows } = await client.query<{ known: number }>(
      `WITH known AS (${known}), added AS (${insert}) SELECT count(*) AS known FROM known`,
      [id, tenantId, batchId, itemRows(items)],
    );
    return rows[0]!.known > 0;
  }
}
