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

/** Rows that one statement looks at: keeps its locks short. */
const MAX_ROWS = 1_000;
/** Each may have many items. */
const MAX_CONVERSATIONS = 50;

/** Rows up to this size are read at the first look. */
const SMALL_ROW_BYTES = 262_144;
/** PostgreSQL's integers go no further, and no row is so large. */
const MAX_ROW_BYTES = 2_147_483_647;

/**
 * Deletes responses and conversations that have been kept for as long as the setting says, counted
 * from the last turn. Any number of instances may sweep at once.
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

/** Stored responses, for the tenant that made them; to all others they do not exist. */
@Injectable()
export class StoredResponsesService {
  constructor(
    private readonly repository: StoredResponsesRepository,
    private readonly background: BackgroundResponses,
  ) {}

  /** The response object as it was sent, or as it stands. @throws NotFoundError (`id`) */
  async retrieve(caller: Caller, id: string, room: RequestRoom): Promise<JsonObject> {
    if (!isResponseId(id)) throw notFound(id);
    const response =
      (await this.findStored(caller, id, room)) ??
      (await this.background.find(caller, id)) ??
      // One that has ended between the two.
      (await this.findStored(caller, id, room));
    if (response) return response;
    throw notFound(id);
  }

  /**
   * Ends a response that is made in the background; of one that has ended nothing changes.
   *
   * @throws NotFoundError (`id`), or InvalidRequestError (`id`) for one that was not made so
   */
  async cancel(caller: Caller, id: string, room: RequestRoom): Promise<JsonObject> {
    if (isResponseId(id)) await this.background.cancel(caller, id);
    const response = await this.retrieve(caller, id, room);
    if (response.background === true) return response;
    throw new InvalidRequestError(
      'id',
      'Only a response that was made with `background: true` can be cancelled.',
    );
  }

  /**
   * Removes a response; turns that followed it can no longer be gone on from.
   *
   * @throws NotFoundError (`id`), or ConflictError (`id`) while it is made in the background
   */
  async delete(caller: Caller, id: string): Promise<DeletedResponse> {
    if (isResponseId(id)) {
      if (await this.repository.delete(caller.tenantId, id)) {
        return { id, object: 'response', deleted: true };
      }
      if (await this.background.find(caller, id)) {
        throw new ConflictError('id', 'The response is still being made; cancel it first.');
      }
    }
    throw notFound(id);
  }

  /** The turn's own input. @throws NotFoundError (`id`, or `after`) */
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
    if (!isJsonObject(response)) throw new Error(`the stored response ${id} is no JSON object`);
    response.output = JSON.parse(row.output_items ?? '[]');
    const text = outputText(response.status, response.output);
    if (text !== undefined) response.output_text = text;
    return response;
  }
}

/** A row, which comes at the first look where it is small, and else in its turn. */
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
    `There is no stored response ${JSON.stringify(id.slice(0, 80))}; it may have been deleted, or made with \`store: false\`.`,
  );
}
