import type { UpstreamCall } from '../../upstream.js';
import { unsupported } from '../../upstream-error.js';
import { encodeMessagesRequest } from './encode-messages-request.js';
import type { MessagesVendor } from './messages-vendor.js';
import { membersSent, samplingSent } from '../../../canonical/prompt-field-table.js';
import { searchesWithin, type CanonicalRequest } from '../../../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import { objectOf, objectsOf } from '../answer-json.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { readThinkingBlock } from './thinking-blocks.js';

/** Fields that only affect the answer; the counting endpoint rejects them. */
const ANSWER_FIELDS = [
  ...['max_tokens', 'stream', 'metadata', 'service_tier', 'container', 'inference_geo'],
  ...membersSent('messages', samplingSent('messages')),
];

/** Differences between vendors of this dialect outside the common body. */
interface MessagesEnvelope {
  /** The model's name in the body; undefined when the vendor has it in the URL. */
  model: string | undefined;
  /** Additional members, as JSON. */
  adding?: Readonly<Record<string, string>>;
}

interface EncodedMessagesCall {
  body: Buffer;
  /** The tool whose arguments are the answer's text, if any. */
  jsonTool: string | undefined;
}

/**
 * Encodes the body of a call: the caller's own bytes if it speaks this dialect, else a translation.
 *
 * @throws UpstreamError as `encodeMessagesRequest` does
 */
export function encodeMessagesCall(
  call: Pick<UpstreamCall, 'request' | 'maxOutputTokens' | 'ownOutputLimit'>,
  vendor: MessagesVendor,
  { model, adding = {} }: MessagesEnvelope,
): EncodedMessagesCall {
  const { request, ownOutputLimit } = call;
  if (request.dialect === 'messages') {
    const { signatureIssuer } = vendor;
    const limited =
      ownOutputLimit === undefined ? adding : { ...adding, ...ownLimit(request, ownOutputLimit) };
    const options = { upstreamModel: model, signatureIssuer, adding: limited };
    const body = encodeMessagesRelay(request, options);
    return { body, jsonTool: undefined };
  }
  const { body, jsonTool } = encodeMessagesRequest(call, vendor);
  const head: Record<string, unknown> = { ...(model !== undefined && { model }) };
  for (const [key, json] of Object.entries(adding)) head[key] = JSON.parse(json);
  if (request.stream) head.stream = true;
  return { body: Buffer.from(JSON.stringify({ ...head, ...body })), jsonTool };
}

/** @throws UpstreamError `unsupported` when the limit leaves no room for the caller's thinking budget */
function ownLimit({ body }: CanonicalRequest, limit: number): Record<string, string> {
  const { budget_tokens: budget } = objectOf(body.value.thinking);
  if (typeof budget === 'number' && budget >= limit) {
    throw unsupported(
      'max_cost',
      `\`max_cost\` pays for ${limit} output tokens on this route, which must be more than \`thinking.budget_tokens\`. Raise \`max_cost\` or lower the budget.`,
    );
  }
  return { max_tokens: String(limit) };
}

/**
 * Encodes the body of a token count.
 *
 * @throws UpstreamError as `encodeMessagesRequest` does
 */
export function encodeMessagesCount(
  call: Pick<UpstreamCall, 'request' | 'maxOutputTokens' | 'upstreamModel'>,
  vendor: MessagesVendor,
): Buffer {
  const { request, upstreamModel } = call;
  if (request.dialect === 'messages') {
    const { signatureIssuer } = vendor;
    return encodeMessagesRelay(request, { upstreamModel, signatureIssuer, without: ANSWER_FIELDS });
  }
  const unwanted = new Set<string>(ANSWER_FIELDS);
  const body = Object.entries(encodeMessagesRequest(call, vendor).body);
  const counted = Object.fromEntries(body.filter(([field]) => !unwanted.has(field)));
  return Buffer.from(JSON.stringify({ model: upstreamModel, ...counted }));
}

interface MessagesRelayOptions {
  /** The vendor's own model name; undefined when the vendor has it in the URL. */
  upstreamModel: string | undefined;
  /** The maker that signs this vendor's reasoning, see `nameSignature`. */
  signatureIssuer: string;
  /** Further members that the vendor's endpoint rejects. */
  without?: readonly string[];
  /** Additional members, as JSON. */
  adding?: Readonly<Record<string, string>>;
}

/**
 * Encodes the body for a vendor that speaks the caller's own dialect: the received bytes with the
 * documented edits, everything else untouched.
 */
export function encodeMessagesRelay(
  { body: { bytes, members, value }, webSearch }: CanonicalRequest,
  { upstreamModel, signatureIssuer, without = [], adding = {} }: MessagesRelayOptions,
): Buffer {
  const edits = new Map<string, string | undefined>(Object.entries(adding));
  edits.set('model', upstreamModel === undefined ? undefined : JSON.stringify(upstreamModel));
  for (const field of [...GATEWAY_FIELDS, ...without]) {
    if (field in value) edits.set(field, undefined);
  }
  const messages = withOwnReasoning(value.messages, signatureIssuer);
  if (messages) edits.set('messages', JSON.stringify(messages));
  if (webSearch) edits.set('tools', JSON.stringify(objectsOf(value.tools).map(withMostUses)));
  return spliceMembers(bytes, members, edits);
}

/** Limits the vendor's search tool to the number of uses that credits are reserved for. */
function withMostUses(tool: JsonObject): JsonObject {
  if (!String(tool.type).startsWith('web_search_')) return tool;
  return { ...tool, max_uses: searchesWithin(tool.max_uses) };
}

/**
 * Restores reasoning that has passed through the gateway. A signature with the vendor's own name loses the
 * name; reasoning signed by others is removed.
 *
 * @returns undefined when nothing changes, for example for callers who only use this vendor
 */
function withOwnReasoning(messages: unknown, signatureIssuer: string): unknown[] | undefined {
  if (!Array.isArray(messages) || !messages.some(holdsNamedSignature)) return undefined;
  return messages.flatMap((message: unknown) => {
    if (!holdsNamedSignature(message)) return [message];
    const content = message.content.flatMap((block) => ownReasoning(block, signatureIssuer));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function holdsNamedSignature(message: unknown): message is JsonObject & { content: unknown[] } {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return false;
  return message.content.some((block) => namedSignatureOf(block) !== undefined);
}

function ownReasoning(block: unknown, signatureIssuer: string): unknown[] {
  const named = namedSignatureOf(block);
  if (named === undefined) return [block];
  const { thinking } = objectOf(block);
  const own = readThinkingBlock(
    signatureIssuer,
    named,
    typeof thinking === 'string' ? thinking : '',
  );
  return own ? [own] : [];
}

/** Returns a signature that names its maker. The vendor's own signatures are base64, without a colon. */
function namedSignatureOf(block: unknown): string | undefined {
  if (!isJsonObject(block)) return undefined;
  const signature =
    block.type === 'thinking'
      ? block.signature
      : block.type === 'redacted_thinking'
        ? block.data
        : undefined;
  return typeof signature === 'string' && /^[a-z][a-z-]{0,30}:/.test(signature)
    ? signature
    : undefined;
}
