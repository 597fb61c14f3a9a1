import type { CanonicalEvent, RelayEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { topLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';
import { unreadable } from '../../upstream-error.js';
import { classifyInlineChatError, assertNotFailed } from './classify-chat-error.js';
import { objectOf, objectsOf, parseAnswerObject } from '../answer-json.js';
import { mapFinishReason } from '../map-finish-reason.js';
import { readChatUsage, measureChatOutput } from './read-chat-usage.js';

/**
 * Reads a whole chat completion for a caller of the same dialect: its bytes with the model's name
 * replaced, and the data for the ledger.
 *
 * @throws UpstreamError `unreadable` for an invalid answer, such as `{}`
 */
export function relayChatAnswer(bytes: Buffer, alias: string): CanonicalEvent[] {
  const answer = parseAnswerObject(bytes.toString('utf8'), 'an answer');
  if (answer.error != null) throw classifyInlineChatError(answer);
  const choices = objectsOf(answer.choices);
  const usage = readChatUsage(answer.usage, answer.service_tier);

  let characters = 0;
  let hasOutput = false;
  for (const choice of choices) {
    assertNotFailed(choice);
    const message = objectOf(choice.message);
    characters += measureChatOutput(message);
    hasOutput ||= characters > 0 || isJsonObject(message.audio);
    hasOutput ||= Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
  }
  const finishReason = choices
    .map((choice) => choice.finish_reason)
    .filter((reason) => typeof reason === 'string')
    .find((reason) => reason !== '');
  if (!hasOutput && finishReason === undefined) {
    throw unreadable('an empty answer', 200);
  }
  const isReworded = choices.filter(nameFinishReason).length > 0;

  const relay: RelayEvent = {
    type: 'relay',
    dialect: 'chat',
    bytes: exchangeModel(isReworded ? withChoices(bytes, choices) : bytes, answer.model, alias),
    hasContent: true,
    outputCharacters: characters,
  };
  if (finishReason !== undefined) relay.finishReason = mapFinishReason('chat', finishReason);
  if (usage) relay.usage = usage;
  return [
    typeof answer.id === 'string' ? { type: 'start', id: answer.id } : { type: 'start' },
    relay,
  ];
}

/** Maps a choice's finish reason to the interface's. @returns whether it differed */
function nameFinishReason(choice: JsonObject): boolean {
  const { finish_reason: reason } = choice;
  if (typeof reason !== 'string') return false;
  choice.finish_reason = mapFinishReason('chat', reason);
  return choice.finish_reason !== reason;
}

function withChoices(bytes: Buffer, choices: readonly JsonObject[]): Buffer {
  const members = topLevelMembers(bytes);
  return spliceMembers(bytes, members, new Map([['choices', JSON.stringify(choices)]]));
}

const MODEL_KEY = '"model"';

/** Replaces the model's name. If the key occurs only once, the position needs no search. */
function exchangeModel(bytes: Buffer, model: unknown, alias: string): Buffer {
  const aliasJson = JSON.stringify(alias);
  const needle = Buffer.from(`${MODEL_KEY}:${JSON.stringify(model)}`);
  const at = bytes.indexOf(needle);
  const end = at + needle.length;
  if (at !== -1 && bytes.indexOf(MODEL_KEY) === at && bytes.indexOf(MODEL_KEY, end) === -1) {
    const edited = Buffer.from(`${MODEL_KEY}:${aliasJson}`);
    return Buffer.concat([bytes.subarray(0, at), edited, bytes.subarray(end)]);
  }
  const members = topLevelMembers(bytes);
  return spliceMembers(bytes, members, new Map([['model', aliasJson]]));
}
