import { Injectable } from '@nestjs/common';
import { InvalidRequestError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { RequestRoom } from '../../platform/http/request-room.js';
import { itemsOfInput } from './complete-body.js';
import { isResponseId } from './item-id.js';
import {
  StoredResponsesRepository,
  type Conversation,
  type TurnRow,
} from './stored-responses.repository.js';

/** As much as a whole body may hold, since a caller could send no more of it by itself. */
export const MAX_CONTEXT_BYTES = 20_000_000;

/** Conversations up to this size are loaded at the first look. */
const SMALL_CONTEXT_BYTES = 262_144;

const PARAM = 'previous_response_id';

/** Loads what a turn goes on from. */
@Injectable()
export class ConversationsService {
  constructor(private readonly repository: StoredResponsesRepository) {}

  /**
   * The turns up to a stored response.
   *
   * @throws NotFoundError for an id that is not the tenant's, or when an earlier turn is gone
   * @throws InvalidRequestError when the response failed, or the conversation is too large
   * @throws OverloadedError when there is no memory for it
   */
  async load(
    tenantId: string,
    previousResponseId: string,
    room: RequestRoom,
  ): Promise<Conversation> {
    const find = (maxBytes: number): Promise<TurnRow[]> =>
      this.repository.findConversation(tenantId, previousResponseId, maxBytes);
    let turns = isResponseId(previousResponseId) ? await find(SMALL_CONTEXT_BYTES) : [];
    const [newest] = turns;
    if (!newest) {
      throw new NotFoundError(
        PARAM,
        `There is no stored response ${JSON.stringify(previousResponseId.slice(0, 80))}; it may have been deleted, made with \`store: false\`, or not have ended yet.`,
      );
    }
    if (newest.status === 'failed' || newest.status === 'cancelled') {
      const ending = newest.status === 'failed' ? 'failed' : 'was cancelled';
      throw new InvalidRequestError(
        PARAM,
        `That response ${ending}, so no turn can follow it; go on from the one before.`,
      );
    }
    if (newest.context_bytes > MAX_CONTEXT_BYTES) {
      throw new InvalidRequestError(
        PARAM,
        `The conversation is larger than ${MAX_CONTEXT_BYTES / 1_000_000} MB; begin a new one.`,
      );
    }
    const { context_bytes: contextBytes } = newest;
    room.take(contextBytes);
    const items = await room.inTurn(contextBytes, async () => {
      if (contextBytes > SMALL_CONTEXT_BYTES) turns = await find(MAX_CONTEXT_BYTES);
      // It may have been deleted between the two looks.
      if (turns.at(-1)?.previous_response_id === null) return itemsOf(turns);
      throw new NotFoundError(
        PARAM,
        'An earlier turn of this conversation has been deleted, so no turn can follow it.',
      );
    });
    const { conversation_id: conversationId } = newest;
    return { previousResponseId, conversationId, contextBytes, items };
  }
}

/** @param turns newest first */
function itemsOf(turns: TurnRow[]): JsonObject[] {
  return turns
    .reverse()
    .flatMap(({ input_items: input, output_items: output }) => [
      ...itemsOfInput(JSON.parse(input ?? '[]')),
      ...itemsOfInput(JSON.parse(output ?? '[]')),
    ]);
}
