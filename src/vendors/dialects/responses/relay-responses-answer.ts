import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { scanTopLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';
import { UpstreamError } from '../../upstream-error.js';
import { parseChatObject } from '../chat/parse-chat-object.js';
import {
  classifyResponseError,
  finishReasonOf,
  measureResponseOutput,
  readResponsesUsage,
} from './read-response.js';
import type { ResponseEdits } from './response-edits.js';

/**
 * Reads a whole response for a caller of the same dialect: its bytes with the documented edits,
 * and what the ledger needs of it.
 *
 * @throws UpstreamError `unreadable` for an answer that is none, such as `{}`
 */
export function relayResponsesAnswer(bytes: Buffer, edits: ResponseEdits): CanonicalEvent[] {
  const answer = parseChatObject(bytes.toString('utf8'), 'an answer');
  if (answer.error != null) throw classifyResponseError(answer.error);
  const finishReason = finishReasonOf(answer);
  if (finishReason === undefined) {
    const status = String(answer.status).slice(0, 40);
    throw new UpstreamError({ failure: 'unreadable', message: `a response that is ${status}` });
  }
  const usage = readResponsesUsage(answer.usage);
  const { members } = scanTopLevelMembers(bytes);
  const spelled = new Map(
    Object.entries(edits).map(([field, value]) => [field, JSON.stringify(value)]),
  );
  return [
    { type: 'start', ...(typeof answer.id === 'string' && { id: answer.id }) },
    {
      type: 'relay',
      dialect: 'responses',
      bytes: spliceMembers(bytes, members, spelled),
      hasContent: true,
      outputCharacters: measureResponseOutput(answer),
      finishReason,
      ...(usage && { usage }),
      answer: { ...answer, ...edits },
    },
  ];
}
