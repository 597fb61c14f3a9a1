import { countCodePoints } from '../../../canonical/prompt-size.js';
import type { Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { classifyChatError, classifyInlineChatError } from '../chat/classify-chat-error.js';
import { readChatUsage } from '../chat/read-chat-usage.js';
import type { CanonicalEvent, FinishReason } from '../../../canonical/canonical-event.js';
import { topLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';
import { type UpstreamError, unreadable } from '../../upstream-error.js';
import { parseAnswerObject, objectOf, objectsOf } from '../answer-json.js';
import { missingMembers } from './response-defaults.js';
import type { ResponseEdits } from './response-edits.js';

/** Reads the usage of a response object, which counts like a chat answer under other names. */
export function readResponsesUsage(response: JsonObject): Usage | undefined {
  const value = objectOf(response.usage);
  const usage = readChatUsage(
    {
      prompt_tokens: value.input_tokens,
      completion_tokens: value.output_tokens,
      prompt_tokens_details: value.input_tokens_details,
      completion_tokens_details: value.output_tokens_details,
    },
    response.service_tier,
  );
  return usage && { ...usage, webSearches: itemsOf(response).filter(isSearch).length };
}

/** Returns whether an item is a billed web search; opening a found page is free. */
export function isSearch({ type, action }: JsonObject): boolean {
  return type === 'web_search_call' && (objectOf(action).type ?? 'search') === 'search';
}

/** Items that ask the caller to run something; for tool searches it depends. */
const CLIENT_CALLS: ReadonlySet<unknown> = new Set([
  ...['function_call', 'custom_tool_call', 'local_shell_call', 'shell_call', 'apply_patch_call'],
]);

const REASONS: Readonly<Record<string, FinishReason>> = { max_output_tokens: 'length' };

/** Returns why a response ended, in the interface's terms; undefined when it has not ended, or failed. */
export function finishReasonOf(response: JsonObject): FinishReason | undefined {
  if (response.status === 'incomplete') {
    const details = objectOf(response.incomplete_details);
    const reason = typeof details.reason === 'string' ? details.reason : 'incomplete';
    return REASONS[reason] ?? reason;
  }
  if (response.status !== 'completed') return undefined;
  const callsTools = itemsOf(response).some(
    ({ type, execution }) => CLIENT_CALLS.has(type) || execution === 'client',
  );
  return callsTools ? 'tool_calls' : 'stop';
}

/** Counts the code points of text, reasoning, refusals and tool calls in a response. */
function measureResponseOutput(response: JsonObject): number {
  let characters = 0;
  const add = (value: unknown): void => {
    if (typeof value === 'string') characters += countCodePoints(value);
  };
  for (const { name, arguments: args, input, content, summary } of itemsOf(response)) {
    [name, args, input].forEach(add);
    for (const parts of [content, summary]) {
      if (!Array.isArray(parts)) continue;
      for (const part of parts.filter(isJsonObject)) [part.text, part.refusal].forEach(add);
    }
  }
  return characters;
}

/** Failure codes caused by the request itself. */
const CALLER_CODES =
  /^(?:invalid_|image_|empty_image|unsupported_image|failed_to_download_image|context_length|bio_policy|misalignment_)/;

/** Classifies a failure inside an answer with status 200. */
export function classifyResponseError(error: unknown): UpstreamError {
  const fields = objectOf(error);
  const named = fields.code ?? fields.type;
  const code = typeof named === 'string' ? named : '';
  if (code.startsWith('rate_limit')) return classifyChatError(429, {}, { error: fields });
  if (CALLER_CODES.test(code)) return classifyChatError(400, {}, { error: fields });
  return classifyInlineChatError({ error: fields });
}

function itemsOf({ output }: JsonObject): JsonObject[] {
  return objectsOf(output);
}

/**
 * Reads a whole response for a caller of the same dialect: its bytes with the documented edits, and the
 * data for the ledger.
 *
 * @param defaults values for members that the vendor omitted
 * @throws UpstreamError `unreadable` for an invalid answer, such as `{}`
 */
export function relayResponsesAnswer(
  bytes: Buffer,
  edits: ResponseEdits,
  defaults: ResponseEdits,
): CanonicalEvent[] {
  const answer = parseAnswerObject(bytes.toString('utf8'), 'an answer');
  if (answer.error != null) throw classifyResponseError(answer.error);
  const finishReason = finishReasonOf(answer);
  if (finishReason === undefined) {
    const status = String(answer.status).slice(0, 40);
    throw unreadable(`a response that is ${status}`);
  }
  const usage = readResponsesUsage(answer);
  const members = topLevelMembers(bytes);
  const changes: JsonObject = { ...missingMembers(answer, defaults), ...edits };
  const spelled = new Map(
    Object.entries(changes).map(([field, value]) => [field, JSON.stringify(value)]),
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
      answer: { ...answer, ...changes },
    },
  ];
}
