import type { IncomingHttpHeaders } from 'node:http';
import {
  notOnSharedCapacity,
  readModelChain,
  readRoutingPreferences,
} from '../../canonical/routing-fields.js';
import type { AccountBoundParam, CanonicalRequest } from '../../canonical/canonical-request.js';
import { onceFor } from '../../canonical/once.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import {
  isJsonObject,
  type JsonBody,
  type JsonObject,
  parseJsonBody,
} from '../../platform/http/json-body.js';
import { assertValid, compileSchema } from '../../platform/http/validate-body.js';
import { measureMessagesPrompt } from './measure-messages-prompt.js';
import { messagesPrompt } from './messages.prompt.js';
import { countTokensSchema, messagesSchema } from './messages.schema.js';
import { ACCOUNT_HEADERS, BETA_FIELD, BETA_HEADER, HARMLESS_BETAS } from './messages.vendor.js';
import { spliceMembers } from '../../platform/http/top-level-members.js';

const validateMessages = compileSchema(messagesSchema);
const validateCountTokens = compileSchema(countTokensSchema);

/**
 * Reads the body of a message request, and the headers that change its meaning, into the canonical
 * form.
 *
 * @throws InvalidRequestError naming the first field or header at fault
 */
export function parseMessages(body: JsonBody, headers: IncomingHttpHeaders): CanonicalRequest {
  const { value } = body;
  assertValid(validateMessages, value);
  const request = toCanonical(body, headers);
  if (typeof value.max_tokens !== 'number') {
    throw new InvalidRequestError('max_tokens', 'The parameter `max_tokens` is missing.');
  }
  return { ...request, stream: value.stream === true, maxOutputTokens: value.max_tokens };
}

/** Reads the body of a request that only asks how long its prompt is. @throws as `parseMessages` */
export function parseCountTokens(body: JsonBody, headers: IncomingHttpHeaders): CanonicalRequest {
  assertValid(validateCountTokens, body.value);
  return toCanonical(body, headers);
}

function toCanonical(body: JsonBody, headers: IncomingHttpHeaders): CanonicalRequest {
  const { value } = body;
  const models = readModelChain(value);
  if (!Array.isArray(value.messages)) {
    throw new InvalidRequestError('messages', 'The parameter `messages` is missing.');
  }
  if (value.messages.length === 0) {
    throw new InvalidRequestError('messages', '`messages` must hold at least one message.');
  }
  const tools = (value.tools ?? []) as JsonObject[];
  tools.forEach(checkTool);
  checkControls(value);
  const measured = measureMessagesPrompt(body);
  const boundHeader = findAccountBoundHeader(headers);
  return {
    dialect: 'messages',
    body: measured.hasUnsealedReasoning ? withoutUnsealedReasoning(body) : body,
    models,
    routing: readRoutingPreferences(value),
    stream: false,
    choices: 1,
    maxOutputTokens: undefined,
    promptSize: measured.size,
    accountBoundParam: boundHeader ?? measured.accountBoundParam ?? findAccountBoundField(value),
    ...(boundHeader && { vendorHeaders: readVendorHeaders(headers) }),
    prompt: onceFor(() => body.value, messagesPrompt),
  };
}

/** What the schema cannot say of a tool, since it depends on its type. */
function checkTool(tool: JsonObject, index: number): void {
  if (!isCustomTool(tool)) return;
  if (tool.name === undefined) throw missing(`tools.${index}.name`);
  if (tool.input_schema == null) throw missing(`tools.${index}.input_schema`);
}

function checkControls({ tool_choice, thinking, output_config }: JsonObject): void {
  if (isJsonObject(tool_choice) && tool_choice.type === 'tool' && !tool_choice.name) {
    throw missing('tool_choice.name');
  }
  if (isJsonObject(thinking) && thinking.type === 'enabled' && thinking.budget_tokens == null) {
    throw missing('thinking.budget_tokens');
  }
  const format = isJsonObject(output_config) ? output_config.format : undefined;
  if (isJsonObject(format) && format.schema == null) throw missing('output_config.format.schema');
}

function missing(param: string): InvalidRequestError {
  return new InvalidRequestError(param, `\`${param}\` is required.`);
}

function isCustomTool({ type }: JsonObject): boolean {
  return type == null || type === 'custom';
}

/** Tools whose definition is the vendor's and which the caller runs; they cost tokens only. */
const CALLER_RUN_TOOL =
  /^(?:bash|text_editor|computer|computer_toolset|browser_toolset|memory)_\d{8}$/;

function findAccountBoundHeader(headers: IncomingHttpHeaders): AccountBoundParam | undefined {
  const betas = String(headers[BETA_HEADER] ?? '').split(',');
  if (betas.some((beta) => beta.trim() !== '' && !HARMLESS_BETAS.has(beta.trim()))) {
    return notOnSharedCapacity(BETA_HEADER, 'unreleased features have no price here');
  }
  const header = ACCOUNT_HEADERS.find((name) => headers[name] !== undefined);
  return header === undefined
    ? undefined
    : notOnSharedCapacity(header, 'it chooses something within a vendor account');
}

/** What only goes out over an account of the caller's own. */
function readVendorHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of [BETA_HEADER, ...ACCOUNT_HEADERS]) {
    const value = headers[name];
    if (typeof value === 'string') given[name] = value;
  }
  return given;
}

/** Fields whose mere presence is refused. */
const ACCOUNT_BOUND_FIELDS: readonly [field: string, reason: string][] = [
  [BETA_FIELD, 'unreleased features have no price here'],
  ['container', 'it names a container in a vendor account'],
  ['mcp_servers', 'servers that the vendor calls are not run here'],
  ['context_management', 'unreleased features have no price here'],
];

/** Fields that may be given, but not with any other value. */
const PRICED_VALUES: readonly [field: string, values: readonly string[], reason: string][] = [
  ['service_tier', ['auto', 'standard_only'], 'other service tiers are billed at other prices'],
  ['speed', ['standard'], 'other speeds are billed at other prices'],
  ['inference_geo', ['global'], 'a choice of region is billed at another price'],
];

/** Top-level fields that cost what the catalogue has no price for, or name things of the vendor account. */
function findAccountBoundField(value: JsonObject): AccountBoundParam | undefined {
  for (const [field, reason] of ACCOUNT_BOUND_FIELDS) {
    if (value[field] != null) return notOnSharedCapacity(field, reason);
  }
  for (const [field, values, reason] of PRICED_VALUES) {
    const given = value[field];
    if (given != null && !values.includes(given as string)) {
      return notOnSharedCapacity(field, reason);
    }
  }
  if (isJsonObject(value.diagnostics) && value.diagnostics.previous_message_id != null) {
    const param = 'diagnostics.previous_message_id';
    return notOnSharedCapacity(param, 'it names an answer in a vendor account');
  }
  const tools = (value.tools ?? []) as JsonObject[];
  const foreign = tools.findIndex(
    (tool) => !isCustomTool(tool) && !CALLER_RUN_TOOL.test(tool.type as string),
  );
  if (foreign === -1) return undefined;
  return notOnSharedCapacity(
    `tools.${foreign}.type`,
    'tools that the vendor runs are billed apart',
  );
}

/**
 * The body without reasoning that nobody has sealed, which some vendors of other dialects give: a
 * vendor of this dialect gets the body as it is, and would refuse all of it for one empty seal. A
 * message of nothing else goes as well. Seals of other makers are for the vendor's adapter to sort
 * out, which knows its own.
 */
function withoutUnsealedReasoning(body: JsonBody): JsonBody {
  const messages = (body.value.messages as JsonObject[]).flatMap((message) => {
    if (!Array.isArray(message.content)) return [message];
    const content = (message.content as JsonObject[]).filter((block) => !isUnsealed(block));
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  const edits = new Map([['messages', JSON.stringify(messages)]]);
  return parseJsonBody(spliceMembers(body.bytes, body.members, edits), { maxParts: Infinity });
}

function isUnsealed({ type, signature, data }: JsonObject): boolean {
  return (type === 'thinking' && signature === '') || (type === 'redacted_thinking' && data === '');
}
