import type { CanonicalEvent, RelayEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { scanTopLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';
import { UpstreamError } from '../../upstream-error.js';
import { classifyInlineChatError, assertNotFailed } from './classify-chat-error.js';
import { parseChatObject } from '../answer-json.js';
import { readChatUsage, measureChatOutput } from './read-chat-usage.js';

/**
 * Reads a whole chat completion for a caller of the same dialect: its bytes, with the model's
 * name exchanged, and what the ledger needs of it.
 *
 * @throws UpstreamError `unreadable` for an answer that is none, such as `{}`
 */
export function relayChatAnswer(bytes: Buffer, alias: string): CanonicalEvent[] {
  const answer = parseChatObject(bytes.toString('utf8'), 'an answer');
  if (answer.error != null) throw classifyInlineChatError(answer);
  const choices = Array.isArray(answer.choices) ? answer.choices.filter(isJsonObject) : [];
  const usage = readChatUsage(answer.usage);

  let characters = 0;
  let hasOutput = false;
  for (const choice of choices) {
    assertNotFailed(choice);
    const message = isJsonObject(choice.message) ? choice.message : {};
    characters += measureChatOutput(message);
    hasOutput ||= characters > 0 || isJsonObject(message.audio);
    hasOutput ||= Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
  }
  const finishReason = choices
    .map((choice) => choice.finish_reason)
    .find((reason) => typeof reason === 'string' && reason !== '') as string | undefined;
  if (!hasOutput && finishReason === undefined) {
    throw new UpstreamError({ failure: 'unreadable', status: 200, message: 'an empty answer' });
  }

  const relay: RelayEvent = {
    type: 'relay',
    dialect: 'chat',
    bytes: exchangeModel(bytes, answer.model, alias),
    hasContent: true,
    outputCharacters: characters,
  };
  if (finishReason !== undefined) relay.finishReason = finishReason;
  if (usage) relay.usage = usage;
  return [
    typeof answer.id === 'string' ? { type: 'start', id: answer.id } : { type: 'start' },
    relay,
  ];
}

const MODEL_KEY = '"model"';

/** The answer with another model's name. Where the key stands once, it need not be looked for. */
function exchangeModel(bytes: Buffer, model: unknown, alias: string): Buffer {
  const aliasJson = JSON.stringify(alias);
  const needle = Buffer.from(`${MODEL_KEY}:${JSON.stringify(model)}`);
  const at = bytes.indexOf(needle);
  const end = at + needle.length;
  if (at !== -1 && bytes.indexOf(MODEL_KEY) === at && bytes.indexOf(MODEL_KEY, end) === -1) {
    const edited = Buffer.from(`${MODEL_KEY}:${aliasJson}`);
    return Buffer.concat([bytes.subarray(0, at), edited, bytes.subarray(end)]);
  }
  const { members } = scanTopLevelMembers(bytes);
  return spliceMembers(bytes, members, new Map([['model', aliasJson]]));
}
