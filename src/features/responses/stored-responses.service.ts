import { Injectable, Inject } from '@nestjs/common';
import type { Caller } from '../../core/access/caller.js';
import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { itemsOfInput } from './complete-body.js';
import { listInputItems, type InputItemList, type InputItemsPage } from './list-input-items.js';
import { isResponseId } from './item-id.js';
import { outputText } from './response-object.js';
import { StoredResponsesRepository, type SweepPosition } from './stored-responses.repository.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Retention } from '../../platform/time/retention.js';

/** Rows that one statement looks at: keeps its locks short. */
const MAX_ROWS = 1_000;

/**
 * Deletes responses that have been kept for as long as the setting says, counted from the last
 * turn of their conversation. Any number of instances may sweep at once.
 */
@Injectable()
export class ResponseRetentionService extends Retention {
  constructor(
    private readonly repository: StoredResponsesRepository,
    @Inject(APP_CONFIG) { responseRetentionDays }: Pick<AppConfig, 'responseRetentionDays'>,
  ) {
    super('responses', responseRetentionDays);
  }

  protected sweepBefore(before: Date): Promise<number> {
    let position: SweepPosition | undefined = { createdAt: '-infinity', id: '' };
    return this.inBatches(async () => {
      if (!position) return undefined;
      const { deleted, next } = await this.repository.sweep(before, position, MAX_ROWS);
      position = next;
      return deleted;
    });
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
  constructor(private readonly repository: StoredResponsesRepository) {}

  /** The response object as it was sent. @throws NotFoundError (`id`) */
  async retrieve({ tenantId }: Caller, id: string): Promise<JsonObject> {
    const row = isResponseId(id) ? await this.repository.findResponse(tenantId, id) : undefined;
    if (!row) throw notFound(id);
    const response = JSON.parse(row.response) as JsonObject;
    response.output = JSON.parse(row.output_items);
    const text = outputText(response.status, response.output);
    if (text !== undefined) response.output_text = text;
    return response;
  }

  /** Removes a response; turns that followed it can no longer be gone on from. @throws NotFoundError (`id`) */
  async delete({ tenantId }: Caller, id: string): Promise<DeletedResponse> {
    const isDeleted = isResponseId(id) && (await this.repository.delete(tenantId, id));
    if (!isDeleted) throw notFound(id);
    return { id, object: 'response', deleted: true };
  }

  /** The turn's own input. @throws NotFoundError (`id`, or `after`) */
  async listInputItems(
    { tenantId }: Caller,
    id: string,
    page: InputItemsPage,
  ): Promise<InputItemList> {
    const input = isResponseId(id) ? await this.repository.findInput(tenantId, id) : undefined;
    if (input === undefined) throw notFound(id);
    return listInputItems(id, itemsOfInput(JSON.parse(input)), page);
  }
}

function notFound(id: string): NotFoundError {
  return new NotFoundError(
    'id',
    `There is no stored response ${JSON.stringify(id.slice(0, 80))}; it may have been deleted, or made with \`store: false\`.`,
  );
}
