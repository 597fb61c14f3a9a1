import type { CanonicalRequest } from '../../src/canonical/canonical-request.js';
import { itemsOfInput } from '../../src/features/responses/complete-body.js';
import type { Conversation } from '../../src/features/responses/stored-responses.repository.js';
import {
  checkResponsesBody,
  parseResponses,
} from '../../src/features/responses/responses.parse.js';
import { jsonBody } from './chat-requests.js';

/** The id of the answers to these requests. */
export const ANSWER_ID = `resp_${'a1'.repeat(24)}`;

/** A Responses body with these fields, parsed like the service does. */
export function responsesRequest(
  fields: object = {},
  conversation?: Conversation,
): CanonicalRequest & { answerId: string } {
  const body = jsonBody({ model: 'a/b', input: 'Hi', ...fields });
  checkResponsesBody(body);
  const ownItems = itemsOfInput(body.value.input);
  const parsed = parseResponses(body, { answerId: ANSWER_ID, conversation, ownItems });
  return { ...parsed, answerId: ANSWER_ID };
}

/** A loaded conversation with these items. */
export function conversationOf(...items: Conversation['items']): Conversation {
  return { previousResponseId: 'resp_1', conversationId: 'resp_0', contextBytes: 10, items };
}
