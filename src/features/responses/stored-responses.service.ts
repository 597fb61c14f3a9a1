import { Injectable, Inject } from '@nestjs/common';
import type { Caller } from '../../core/access/caller.js';
import {
  ConflictError,
  InvalidRequestError,
  NotFoundError,
} from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type { RequestRoom } from '../../platform/http/request-room.js';
import { BackgroundResponses } from './background/background-responses.service.js';
import { itemsOfInput } from './complete-body.js';
import { listInputItems, type InputItemList, type ItemsPage } from './list-input-items.js';
import { isResponseId } from './item-id.js';
import { outputText } from './response-object.js';
import { StoredConversationsRepository } from './conversations/stored-conversations.repository.js';
import { StoredResponsesRepository, type SweepPosition } from './stored-responses.repository.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Retention } from '../../platform/time/retention.js';

/** Rows per statement, to keep locks short. */
const MAX_ROWS = 1_000;
/** Lower, since each can have many items. */
const MAX_CONVERSATIONS = 50;

/** Rows up to this size are read in the first query. */
const SMALL_ROW_BYTES = 262_144;
/** The largest PostgreSQL integer, above any row's size. */
const MAX_ROW_BYTES = 2_147_483_647;

/**
 * Deletes responses and conversations after the retention setting, counted from the last turn.
 * Safe to run on several instances.
 */
@Injectable()
export class ResponseRetentionService extends Retention {
  constructor(
    private readonly repository: StoredResponsesRepository,
    private readonly conversations: StoredConversationsRepository,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'responseRetentionDays'>,
  ) {
    super('responses', () => config.responseRetentionDays);
  }

  protected async sweepBefore(before: Date): Promise<number> {
    const conversations = await this.inBatches(async () => {
      const deleted = await this.conversations.sweep(before, MAX_CONVERSATIONS);
      return deleted === 0 ? undefined : deleted;
    });
    let position: SweepPosition | undefined = { createdAt: '-infinity', id: '' };
    const responses = await this.inBatches(async () => {
      if (!position) return undefined;
      const { deleted, next } = await this.repository.sweep(before, position, MAX_ROWS);
      position = next;
      return deleted;
    });
    return conversations + responses;
  }
}

export interface DeletedResponse {
  id: string;
  object: 'response';
  deleted: true;
}

/** Stored responses, visible only to the tenant that created them. */
@Injectable()
export class StoredResponsesService {
  constructor(
    private readonly repository: StoredResponsesRepository,
    private readonly background: BackgroundResponses,
  ) {}

  /** Returns the response object as sent, or its current state. @throws NotFoundError (`id`) */
  async retrieve(caller: Caller, id: string, room: RequestRoom): Promise<JsonObject> {
    if (!isResponseId(id)) throw notFound(id);
    const response =
      (await this.findStored(caller, id, room)) ??
      (await this.background.find(caller, id)) ??
      // It may have ended between the two queries.
      (await this.findStored(caller, id, room));
    if (response) return response;
    throw notFound(id);
  }

  /**
   * Cancels a background response. Has no effect once it has ended.
   * @throws NotFoundError (`id`), or InvalidRequestError (`id`) when it was not created in the
   * background
   */
  async cancel(caller: Caller, id: string, room: RequestRoom): Promise<JsonObject> {
    if (isResponseId(id)) await this.background.cancel(caller, id);
    const response = await this.retrieve(caller, id, room);
    if (response.background === true) return response;
    throw new InvalidRequestError(
      'id',
      'Only responses created with `background: true` can be cancelled.',
    );
  }

  /**
   * Deletes a response. Turns that follow it cannot be continued afterwards.
   * @throws NotFoundError (`id`), or ConflictError (`id`) while it runs in the background
   */
  async delete(caller: Caller, id: string): Promise<DeletedResponse> {
    if (isResponseId(id)) {
      if (await this.repository.delete(caller.tenantId, id)) {
        return { id, object: 'response', deleted: true };
      }
      if (await this.background.find(caller, id)) {
        throw new ConflictError('id', 'The response is still in progress. Cancel it first.');
      }
    }
    throw notFound(id);
  }

  /** Lists the turn's own input. @throws NotFoundError (`id` or `after`) */
  async listInputItems(
    caller: Caller,
    id: string,
    page: ItemsPage,
    room: RequestRoom,
  ): Promise<InputItemList> {
    if (!isResponseId(id)) throw notFound(id);
    const row = await find(room, (maxBytes) =>
      this.repository.findInput(caller.tenantId, id, maxBytes),
    );
    const input = row?.input_items ?? (await this.background.findInput(caller, id, room));
    if (input === undefined) throw notFound(id);
    return listInputItems(id, itemsOfInput(JSON.parse(input)), page);
  }

  private async findStored(
    { tenantId }: Caller,
    id: string,
    room: RequestRoom,
  ): Promise<JsonObject | undefined> {
    const row = await find(room, (maxBytes) =>
      this.repository.findResponse(tenantId, id, maxBytes),
    );
    if (!row) return undefined;
    const response: unknown = JSON.parse(row.response ?? '');
    if (!isJsonObject(response)) throw new Error(`stored response ${id} is not a JSON object`);
    response.output = JSON.parse(row.output_items ?? '[]');
    const text = outputText(response.status, response.output);
    if (text !== undefined) response.output_text = text;
    return response;
  }
}

/** Reads a row, with a second query under a memory reservation when it is large. */
async function find<Row extends { bytes: number }>(
  room: RequestRoom,
  look: (maxBytes: number) => Promise<Row | undefined>,
): Promise<Row | undefined> {
  const row = await look(SMALL_ROW_BYTES);
  if (!row || row.bytes <= SMALL_ROW_BYTES) return row;
  room.take(row.bytes);
  return room.inTurn(row.bytes, () => look(MAX_ROW_BYTES));
}

function notFound(id: string): NotFoundError {
  return new NotFoundError(
    'id',
    `There is no stored response ${JSON.stringify(id.slice(0, 80))}. It may have been deleted, or created with \`store: false\`.`,
  );
}
