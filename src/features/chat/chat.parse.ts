import {
  findBilledServiceTier,
  notOnSharedCapacity,
  readModelChain,
  readRoutingPreferences,
} from '../../canonical/routing-fields.js';
import type { AccountBoundParam, CanonicalRequest } from '../../canonical/canonical-request.js';
import { readEndUser } from '../../canonical/end-user.js';
import { onceFor } from '../../canonical/once.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, parseJsonBody, type JsonBody } from '../../platform/http/json-body.js';
import { spliceMembers } from '../../platform/http/top-level-members.js';
import { assertValidBody, compileSchema } from '../../platform/http/validate-body.js';
import { chatCompletionSchema, type ChatBody } from './chat-completion.schema.js';
import { chatPrompt } from './chat.prompt.js';
import { measureChatPrompt } from './measure-chat-prompt.js';
import { translateResponsesInput } from './translate-responses-input.js';

const SEARCH_BOUND = notOnSharedCapacity(
  'web_search_options',
  'this model has no price for searches',
);

const validate = compileSchema(chatCompletionSchema);

/**
 * Converts a chat completion body to the canonical form.
 * @throws InvalidRequestError naming the first invalid field
 */
export function parseChat(received: JsonBody): CanonicalRequest {
  assertValidBody(validate, received);
  const body = withMessages(received);
  const { value } = body;
  const measured = measureChatPrompt(body);
  return {
    dialect: 'chat',
    body,
    models: readModelChain(value),
    routing: readRoutingPreferences(value),
    stream: value.stream === true,
    choices: value.n ?? 1,
    maxOutputTokens: readMaxOutputTokens(value),
    predictedTokens: measured.predictedTokens,
    endUser: readEndUser(value.safety_identifier ?? value.user),
    promptSize: measured.size,
    accountBoundParam: measured.accountBoundParam ?? findAccountBoundField(value),
    ...(value.web_search_options != null && {
      webSearch: { most: value.n ?? 1, bound: SEARCH_BOUND },
    }),
    prompt: onceFor(() => body.value, chatPrompt),
  };
}

/** Returns whether the caller wants a usage chunk at the end of the stream. */
export function wantsUsageChunk(request: CanonicalRequest): boolean {
  const options = request.body.value.stream_options;
  return isJsonObject(options) && options.include_usage === true;
}

/** Servers differ in which field they read, so credits are reserved for the larger one. */
function readMaxOutputTokens(value: ChatBody): number | undefined {
  const limits = [value.max_completion_tokens, value.max_tokens].filter(
    (limit) => typeof limit === 'number',
  );
  return limits.length > 0 ? Math.max(...limits) : undefined;
}

/** Converts Responses-style `input` to `messages`, the only form used from here on. */
function withMessages(body: JsonBody<ChatBody>): JsonBody<ChatBody> {
  const { messages, input } = body.value;
  if (messages != null && input != null) {
    throw new InvalidRequestError('input', 'Send either `messages` or `input`, not both.');
  }
  if (input != null) {
    const translated = JSON.stringify(translateResponsesInput(input));
    const edits = new Map([
      ['input', undefined],
      ['messages', translated],
    ]);
    const bytes = spliceMembers(body.bytes, body.members, edits);
    const converted: JsonBody = parseJsonBody(bytes, { maxParts: Infinity });
    assertValidBody(validate, converted);
    return converted;
  }
  if (messages == null) {
    throw new InvalidRequestError(
      'messages',
      'The parameter `messages` is missing. Send `messages` or Responses-style `input`.',
    );
  }
  if (messages.length === 0) {
    throw new InvalidRequestError('messages', '`messages` must contain at least one message.');
  }
  return body;
}

/** Azure extensions: data stores read with the account's own permissions, and image analysis. */
const CLOUD_FIELDS = ['data_sources', 'dataSources', 'enhancements'] as const;

/** Finds a field that refers to a vendor account or whose cost the catalogue cannot price. */
function findAccountBoundField(value: ChatBody): AccountBoundParam | undefined {
  const cloudField = CLOUD_FIELDS.find((field) => value[field] != null);
  if (cloudField !== undefined) {
    return notOnSharedCapacity(cloudField, 'it is read with the permissions of a vendor account');
  }
  if (value.audio != null) return notOnSharedCapacity('audio', 'audio output is billed separately');
  if (Array.isArray(value.modalities) && value.modalities.includes('audio')) {
    return notOnSharedCapacity('modalities', 'audio output is billed separately');
  }
  const tools = value.tools ?? [];
  const foreign = tools.findIndex((tool) => tool.type !== 'function' && tool.type !== 'custom');
  if (foreign !== -1) {
    return notOnSharedCapacity(`tools.${foreign}.type`, 'vendor-run tools are billed separately');
  }
  // Checked last: some shared routes accept a service tier, but none accept the others.
  return findBilledServiceTier(value);
}
