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
  'searches have no price on this model',
);

const validate = compileSchema(chatCompletionSchema);

/**
 * Reads a chat completion body into the canonical form.
 *
 * @throws InvalidRequestError naming the first field at fault
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

/** Whether the caller wants the usage chunk at the end of a stream. */
export function wantsUsageChunk(request: CanonicalRequest): boolean {
  const options = request.body.value.stream_options;
  return isJsonObject(options) && options.include_usage === true;
}

/** Servers differ in which of the two they read, so credits are set aside for the larger one. */
function readMaxOutputTokens(value: ChatBody): number | undefined {
  const limits = [value.max_completion_tokens, value.max_tokens].filter(
    (limit) => typeof limit === 'number',
  );
  return limits.length > 0 ? Math.max(...limits) : undefined;
}

/** Responses-style `input` becomes `messages`, so that everything behind knows one form only. */
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
    const made: JsonBody = parseJsonBody(bytes, { maxParts: Infinity });
    assertValidBody(validate, made);
    return made;
  }
  if (messages == null) {
    throw new InvalidRequestError(
      'messages',
      'The parameter `messages` is missing: send `messages`, or Responses-style `input`.',
    );
  }
  if (messages.length === 0) {
    throw new InvalidRequestError('messages', '`messages` must hold at least one message.');
  }
  return body;
}

/** Of a cloud that sells the vendor's models: stores that it reads with its account's own rights, and readers of pictures. */
const CLOUD_FIELDS = ['data_sources', 'dataSources', 'enhancements'] as const;

/** Top-level fields that cost what the catalogue has no price for, or name things of the vendor account. */
function findAccountBoundField(value: ChatBody): AccountBoundParam | undefined {
  const cloudField = CLOUD_FIELDS.find((field) => value[field] != null);
  if (cloudField !== undefined) {
    return notOnSharedCapacity(cloudField, 'it is read with the rights of a vendor account');
  }
  if (value.audio != null) return notOnSharedCapacity('audio', 'audio output is billed apart');
  if (Array.isArray(value.modalities) && value.modalities.includes('audio')) {
    return notOnSharedCapacity('modalities', 'audio output is billed apart');
  }
  const tools = value.tools ?? [];
  const foreign = tools.findIndex((tool) => tool.type !== 'function' && tool.type !== 'custom');
  if (foreign !== -1) {
    return notOnSharedCapacity(
      `tools.${foreign}.type`,
      'tools that the vendor runs are billed apart',
    );
  }
  // Last, as some routes may take it; none takes the others.
  return findBilledServiceTier(value);
}
