import { isContent, type CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError } from '../../upstream-error.js';
import { assertNotFailed } from './assert-not-failed.js';
import { ChatChoiceDecoder } from './chat-choice-decoder.js';
import { classifyInlineChatError } from './classify-chat-error.js';
import { parseChatObject } from './parse-chat-object.js';
import { readChatUsage } from './read-chat-usage.js';

/**
 * Reads a whole chat completion for a caller of another dialect.
 *
 * @throws UpstreamError `unreadable` for an answer that is none, such as `{}`
 */
export function decodeChatAnswer(bytes: Buffer): CanonicalEvent[] {
  const answer = parseChatObject(bytes.toString('utf8'), 'an answer');
  if (answer.error != null) throw classifyInlineChatError(answer);
  const choices = Array.isArray(answer.choices) ? answer.choices.filter(isJsonObject) : [];
  const events: CanonicalEvent[] = [
    { type: 'start', ...(typeof answer.id === 'string' && { id: answer.id }) },
  ];
  for (const [position, choice] of choices.entries()) {
    assertNotFailed(choice);
    const decoder = new ChatChoiceDecoder(position);
    decoder.read(choice, choice.message, events);
    decoder.close(events);
  }
  if (!events.some(isContent)) {
    throw new UpstreamError({ failure: 'unreadable', status: 200, message: 'an empty answer' });
  }
  const usage = readChatUsage(answer.usage);
  if (usage) events.push({ type: 'usage', usage });
  return events;
}
