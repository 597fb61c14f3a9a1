import type { IncomingHttpHeaders } from 'node:http';
import { readModelChain, readRoutingPreferences } from '../../canonical/routing-fields.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { readEndUser } from '../../canonical/end-user.js';
import { onceFor } from '../../canonical/once.js';
import { GatewayError, InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { type JsonBody, type JsonObject, parseJsonBody } from '../../platform/http/json-body.js';
import { assertValidBody, compileSchema } from '../../platform/http/validate-body.js';
import { measureMessagesPrompt } from './measure-messages-prompt.js';
import { messagesPrompt } from './messages.prompt.js';
import {
  countTokensSchema,
  messagesSchema,
  type MessageTool,
  type PromptBody,
} from './messages.schema.js';
import { BETA_FIELD } from './messages.vendor.js';
import {
  findAccountBoundField,
  findAccountHeader,
  isCustomTool,
  readVendorHeaders,
  readWebSearch,
} from './shared-capacity.js';
import { spliceMembers } from '../../platform/http/top-level-members.js';

const validateMessages = compileSchema(messagesSchema);
const validateCountTokens = compileSchema(countTokensSchema);

/**
 * Converts a message request and its relevant headers to the canonical form.
 * @throws InvalidRequestError naming the first invalid field or header
 */
export function parseMessages(body: JsonBody, headers: IncomingHttpHeaders): CanonicalRequest {
  assertValidBody(validateMessages, body);
  const { value } = body;
  const request = toCanonical(body, headers);
  if (typeof value.max_tokens !== 'number') {
    throw new InvalidRequestError('max_tokens', 'The parameter `max_tokens` is missing.');
  }
  return {
    ...request,
    stream: value.stream === true,
    maxOutputTokens: value.max_tokens,
    endUser: readEndUser(value.metadata?.user_id),
  };
}

/** Reads the body of a token count. @throws like `parseMessages` */
export function parseCountTokens(body: JsonBody, headers: IncomingHttpHeaders): CanonicalRequest {
  assertValidBody(validateCountTokens, body);
  return toCanonical(body, headers);
}

function toCanonical(body: JsonBody<PromptBody>, headers: IncomingHttpHeaders): CanonicalRequest {
  const { value } = body;
  checkThread(value);
  const models = readModelChain(value);
  if (!value.messages) {
    throw new InvalidRequestError('messages', 'The parameter `messages` is missing.');
  }
  if (value.messages.length === 0) {
    throw new InvalidRequestError('messages', '`messages` must contain at least one message.');
  }
  value.tools?.forEach(checkTool);
  checkControls(value);
  const measured = measureMessagesPrompt(body);
  const vendorHeaders = readVendorHeaders(headers, value);
  const webSearch = readWebSearch(value);
  return {
    dialect: 'messages',
    body: forVendor(body, measured.hasUnsignedReasoning),
    models,
    routing: readRoutingPreferences(value),
    stream: false,
    choices: 1,
    maxOutputTokens: undefined,
    promptSize: measured.size,
    accountBoundParam:
      findAccountHeader(headers) ?? measured.accountBoundParam ?? findAccountBoundField(value),
    ...(webSearch && { webSearch }),
    ...(vendorHeaders && { vendorHeaders }),
    prompt: onceFor(() => body.value, messagesPrompt),
  };
}

/** Clients of the dialect recognize this error code and resend the whole conversation. */
function checkThread({ thread }: PromptBody): void {
  if (thread == null) return;
  throw new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    param: 'thread',
    message: 'Threads are not supported. Omit `thread` and send all of `messages`.',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
}

/** Checks what the schema cannot express, since it depends on the tool's type. */
function checkTool(tool: MessageTool, index: number): void {
  if (!isCustomTool(tool)) return;
  if (tool.name === undefined) throw missing(`tools.${index}.name`);
  if (tool.input_schema == null) throw missing(`tools.${index}.input_schema`);
}

function checkControls({ tool_choice, thinking, output_config }: PromptBody): void {
  if (tool_choice?.type === 'tool' && !tool_choice.name) throw missing('tool_choice.name');
  if (thinking?.type === 'enabled' && thinking.budget_tokens == null) {
    throw missing('thinking.budget_tokens');
  }
  const format = output_config?.format;
  if (format && format.schema == null) throw missing('output_config.format.schema');
}

function missing(param: string): InvalidRequestError {
  return new InvalidRequestError(param, `\`${param}\` is required.`);
}

/**
 * Returns the body for vendors of this dialect. Betas have become a header. Unsigned reasoning,
 * which other dialects can produce, is removed, since the vendor rejects empty signatures.
 */
function forVendor(body: JsonBody<PromptBody>, hasUnsignedReasoning: boolean): JsonBody {
  const edits = new Map<string, string | undefined>();
  if (hasUnsignedReasoning) edits.set('messages', JSON.stringify(signedMessages(body.value)));
  if (BETA_FIELD in body.value) edits.set(BETA_FIELD, undefined);
  if (edits.size === 0) return body;
  return parseJsonBody(spliceMembers(body.bytes, body.members, edits), { maxParts: Infinity });
}

/**
 * Removes unsigned reasoning, and messages that contain nothing else. The vendor's adapter handles
 * other vendors' signatures.
 */
function signedMessages({ messages }: PromptBody): unknown[] {
  return (messages ?? []).flatMap((message) => {
    if (typeof message.content === 'string') return [message];
    const content = message.content.filter((block) => !isUnsigned(block));
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function isUnsigned({ type, signature, data }: JsonObject): boolean {
  return (type === 'thinking' && signature === '') || (type === 'redacted_thinking' && data === '');
}
