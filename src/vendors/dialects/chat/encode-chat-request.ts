import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import type { UpstreamCall } from '../../upstream.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { CHAT_FIELDS, dropUnknown } from '../known-fields.js';
import type {
  CanonicalRequest,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
  ReasoningControl,
} from '../../../canonical/canonical-request.js';
import { fieldsSent, samplingEncoder } from '../../../canonical/prompt-field-table.js';
import {
  conversationField,
  fieldName,
  unsupportedFields,
} from '../../../canonical/prompt-fields.js';
import { prefillFields, type Prefill } from './chat-prefill.js';
import { encodeChatMessages } from './encode-chat-messages.js';
import { listOf, objectOf } from '../answer-json.js';
import { OUTPUT_LIMIT_FIELDS, type OutputLimitField, type QuirkTable } from './chat-quirks.js';

/** Only the gateway prefixes signatures with a maker's name; vendors' own signatures are base64. */
const NAMED_SIGNATURE = /^[a-z][a-z0-9-]{0,40}:/;

/** Efforts for reasoning budgets up to these token counts; `high` above the last. */
const EFFORTS: readonly [maxTokens: number, effort: string][] = [
  [4_096, 'low'],
  [16_384, 'medium'],
];

const SUPPORTED = new Set(fieldsSent('chat'));
const encodeSampling = samplingEncoder('chat');

/**
 * Body fields of this or another gateway that mean nothing to a vendor. `reasoning` is sent as
 * `reasoning_effort`.
 */
export const CHAT_GATEWAY_FIELDS: readonly string[] = [...GATEWAY_FIELDS, 'input', 'reasoning'];

/** The parts of a call that its body depends on. */
type ChatRelayCall = Pick<UpstreamCall, 'request' | 'upstreamModel' | 'ownOutputLimit'>;

/** Server properties that affect the body. */
export interface ChatServerTraits {
  /** Drops undocumented fields; false by default. */
  knownFieldsOnly?: boolean | undefined;
  /** How it continues an assistant message; undefined: not supported. */
  prefill?: Prefill | undefined;
  /** Deviations from the dialect; none by default. */
  quirks?: QuirkTable;
}

/**
 * Encodes the body for a vendor that speaks the caller's own dialect: the received bytes with the
 * documented edits, everything else untouched and unparsed.
 *
 * @param server how the server deviates from the dialect
 */
export function encodeChatRequest(
  { request, upstreamModel, ownOutputLimit }: ChatRelayCall,
  outputLimitField: OutputLimitField,
  { knownFieldsOnly = false, prefill, quirks }: ChatServerTraits = {},
): Buffer {
  const { bytes, members, value } = request.body;
  const edits = new Map<string, string | undefined>([['model', JSON.stringify(upstreamModel)]]);
  if (knownFieldsOnly) dropUnknown(value, quirks?.fields ?? CHAT_FIELDS, edits);
  for (const field of CHAT_GATEWAY_FIELDS) if (field in value) edits.set(field, undefined);

  if (isJsonObject(value.reasoning) && value.reasoning_effort == null) {
    const { effort } = value.reasoning;
    if (typeof effort === 'string') edits.set('reasoning_effort', JSON.stringify(effort));
  }
  if (ownOutputLimit !== undefined) {
    for (const field of OUTPUT_LIMIT_FIELDS) if (field in value) edits.set(field, undefined);
    edits.set(outputLimitField, String(ownOutputLimit));
    if ('prediction' in value && !takesPrediction(outputLimitField, ownOutputLimit)) {
      edits.set('prediction', undefined);
    }
  }
  const messages = withoutForeignReasoning(value.messages);
  if (messages) edits.set('messages', JSON.stringify(messages));
  if (request.isPrefilled && prefill) {
    const fields = prefillFields(messages ?? listOf(value.messages), prefill);
    const { fields: more } = quirks?.quirks.prefillAt ?? {};
    for (const [field, set] of Object.entries({ ...fields, ...more }))
      edits.set(field, JSON.stringify(set));
  }
  // Stores nothing of a caller's in the vendor account that all callers share.
  if (value.store != null) edits.set('store', 'false');
  if (request.stream) {
    const options = objectOf(value.stream_options);
    edits.set('stream_options', JSON.stringify({ ...options, include_usage: true }));
  }
  if (quirks) editByQuirks(value, quirks, upstreamModel, edits);
  return spliceMembers(bytes, members, edits);
}

/**
 * Returns whether the caller's `prediction` can be sent. OpenAI rejects one together with
 * `max_completion_tokens`. The limit caps the cost, while a prediction only saves time.
 */
export function takesPrediction(
  outputLimitField: OutputLimitField,
  ownOutputLimit: number | undefined,
): boolean {
  return ownOutputLimit === undefined || outputLimitField !== 'max_completion_tokens';
}

/** Adds the server's quirks to the edits so far; everything else stays the received bytes. */
function editByQuirks(
  value: JsonObject,
  quirks: QuirkTable,
  upstreamModel: string,
  edits: Map<string, string | undefined>,
): void {
  const sent: JsonObject = { ...value };
  for (const [field, text] of edits) {
    if (text === undefined) delete sent[field];
    else sent[field] = JSON.parse(text);
  }
  const before: JsonObject = { ...sent };
  quirks.apply(sent, upstreamModel);
  for (const field of Object.keys({ ...before, ...sent })) {
    if (sent[field] === before[field]) continue;
    edits.set(field, sent[field] === undefined ? undefined : JSON.stringify(sent[field]));
  }
}

/**
 * Encodes the body for a server of the chat dialect when the caller speaks another one.
 *
 * @param takesEffort false for a model that rejects a reasoning effort
 * @param prefill how the server continues an assistant message
 * @param quirks the server's deviations from the dialect
 * @throws UpstreamError `unsupported` for content that the dialect cannot express
 */
export function encodeChatPrompt(
  { request, upstreamModel, ownOutputLimit }: ChatRelayCall,
  outputLimitField: OutputLimitField,
  takesEffort = true,
  prefill?: Prefill,
  quirks?: QuirkTable,
): Buffer {
  const prompt = request.prompt();
  const { tools, sampling } = prompt;
  const hasTools = tools.length > 0;
  const field = conversationField(request.dialect);
  const messages = encodeChatMessages(prompt.messages, field, quirks?.quirks.keepsReasoning);
  // JSON omits undefined members.
  const body: JsonObject = {
    model: upstreamModel,
    messages,
    stream: request.stream || undefined,
    stream_options: request.stream ? { include_usage: true } : undefined,
    n: request.choices > 1 ? request.choices : undefined,
    [outputLimitField]: request.maxOutputTokens ?? ownOutputLimit,
    tools: hasTools ? tools.map(encodeTool) : undefined,
    tool_choice: encodeToolChoice(prompt.toolChoice, hasTools),
    parallel_tool_calls: hasTools ? prompt.parallelToolCalls : undefined,
    response_format: encodeResponseFormat(prompt.responseFormat),
    reasoning_effort: takesEffort ? toReasoningEffort(prompt.reasoning) : undefined,
    ...encodeSampling({ ...sampling, stop: sampling.stop?.length ? sampling.stop : undefined }),
    user: prompt.endUser && mapEndUser(prompt.endUser),
    ...(request.isPrefilled && prefill && prefillFields(messages, prefill)),
    ...(request.isPrefilled && quirks?.quirks.prefillAt?.fields),
  };
  quirks?.apply(body, upstreamModel);
  return Buffer.from(JSON.stringify(body));
}

/** Longer end-user ids are rejected; a digest is as good and stable. */
const MAX_USER_LENGTH = 64;

function mapEndUser(user: string): string {
  if (user.length <= MAX_USER_LENGTH) return user;
  return `user_${createHash('sha256').update(user).digest('base64url').slice(0, 32)}`;
}

/** Lists a request's fields that such a server does not get, in the caller's dialect. */
export function fieldsChatLacks(
  request: CanonicalRequest,
  takesEffort = true,
  quirks?: QuirkTable,
  upstreamModel = '',
): string[] {
  const supported = quirks
    ? new Set([...SUPPORTED].filter((field) => !quirks.refused.has(field)))
    : SUPPORTED;
  const dropped = unsupportedFields(request, supported);
  const prompt = request.prompt();
  const { reasoning, messages, tools } = prompt;
  if (quirks) {
    const said = {
      tool_choice: encodeToolChoice(prompt.toolChoice, tools.length > 0),
      response_format: encodeResponseFormat(prompt.responseFormat),
    };
    const lost = quirks.lost(said, upstreamModel);
    dropped.push(...lost.map((field) => fieldName(request.dialect, field)));
  }
  const effort = takesEffort ? toReasoningEffort(reasoning) : undefined;
  if (reasoning !== undefined && effort === undefined) {
    dropped.push(fieldName(request.dialect, 'reasoning'));
  }
  const marked = [...messages.flatMap((message) => message.parts), ...tools];
  if (marked.some((part) => 'cacheControl' in part && part.cacheControl !== undefined)) {
    dropped.push('cache_control');
  }
  return [...new Set(dropped)];
}

function encodeTool({ name, description, parameters, strict }: ToolDefinition): JsonObject {
  return { type: 'function', function: { name, description, parameters, strict } };
}

/** Returns undefined without tools, because the vendor rejects the field then. */
function encodeToolChoice(choice: ToolChoice | undefined, hasTools: boolean): unknown {
  if (typeof choice === 'object') return { type: 'function', function: { name: choice.name } };
  return hasTools || choice === 'required' ? choice : undefined;
}

function encodeResponseFormat(format: ResponseFormat | undefined): unknown {
  if (format?.type !== 'json_schema') return format;
  const { name, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, schema, strict } };
}

/**
 * Maps reasoning options to an effort, the only form in the chat dialect. An effort is passed on
 * unchanged, a budget becomes the nearest effort, and reasoning without either becomes `medium`.
 *
 * @returns undefined when there is nothing to send. That includes disabled reasoning, because models that
 *   always or never reason reject `none`
 */
export function toReasoningEffort(control: ReasoningControl | undefined): string | undefined {
  if (control?.effort !== undefined) return control.effort;
  if (control === undefined || control.enabled === false) return undefined;
  const { maxTokens, enabled } = control;
  if (maxTokens === undefined) return enabled ? 'medium' : undefined;
  return EFFORTS.find(([limit]) => maxTokens <= limit)?.[1] ?? 'high';
}

/**
 * Removes reasoning that vendors of other dialects signed and the gateway encoded in this one. Some
 * vendors reject the whole request for it, and signatures must not reach another vendor. The vendor's own
 * reasoning stays.
 *
 * @returns undefined when there is nothing to remove, as in most conversations
 */
export function withoutForeignReasoning(messages: unknown): unknown[] | undefined {
  if (!Array.isArray(messages) || !messages.some(holdsNamedSignature)) return undefined;
  return messages.map((message: unknown) =>
    holdsNamedSignature(message) ? withoutReasoning(message) : message,
  );
}

function holdsNamedSignature(
  message: unknown,
): message is JsonObject & { reasoning_details: unknown[] } {
  if (!isJsonObject(message) || !Array.isArray(message.reasoning_details)) return false;
  return message.reasoning_details.some(isNamed);
}

/** Removes the text as well, because it duplicates the details. */
function withoutReasoning({
  reasoning_details: details,
  reasoning_content: _text,
  ...rest
}: JsonObject & { reasoning_details: unknown[] }): JsonObject {
  const own = details.filter((detail) => !isNamed(detail));
  return own.length === 0 ? rest : { ...rest, reasoning_details: own };
}

function isNamed(detail: unknown): boolean {
  if (!isJsonObject(detail)) return false;
  const signature = detail.signature ?? detail.data;
  return typeof signature === 'string' && NAMED_SIGNATURE.test(signature);
}
