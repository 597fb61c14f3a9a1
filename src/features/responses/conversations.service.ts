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

/** Equals the body limit, since a caller could not send a larger conversation. */
export const MAX_CONTEXT_BYTES = 20_000_000;

/** Conversations up to this size are loaded in the first query. */
const SMALL_CONTEXT_BYTES = 262_144;

const PARAM = 'previous_response_id';

/** Loads the conversation that a turn continues. */
@Injectable()
export class ConversationsService {
  constructor(private readonly repository: StoredResponsesRepository) {}

  /**
   * Loads the turns up to a stored response.
   * @throws NotFoundError for an unknown id, or when an earlier turn was deleted
   * @throws InvalidRequestError when the response failed or the conversation is too large
   * @throws OverloadedError when memory is insufficient
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
        `There is no stored response ${JSON.stringify(previousResponseId.slice(0, 80))}. It may have been deleted, created with \`store: false\`, or not have ended yet.`,
      );
    }
    if (newest.status === 'failed' || newest.status === 'cancelled') {
      const ending = newest.status === 'failed' ? 'failed' : 'was cancelled';
      throw new InvalidRequestError(
        PARAM,
        `That response ${ending} and cannot be continued. Continue from the response before it.`,
      );
    }
    if (newest.context_bytes > MAX_CONTEXT_BYTES) {
      throw new InvalidRequestError(
        PARAM,
        `The conversation is larger than ${MAX_CONTEXT_BYTES / 1_000_000} MB. Start a new one.`,
      );
    }
    const { context_bytes: contextBytes } = newest;
    room.take(contextBytes);
    const items = await room.inTurn(contextBytes, async () => {
      if (contextBytes > SMALL_CONTEXT_BYTES) turns = await find(MAX_CONTEXT_BYTES);
      // It may have been deleted between the two queries.
      if (turns.at(-1)?.previous_response_id === null) return itemsOf(turns);
      throw new NotFoundError(
        PARAM,
        'An earlier turn of this conversation has been deleted, so it cannot be continued.',
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
