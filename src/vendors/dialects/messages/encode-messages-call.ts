import type { UpstreamCall } from '../../upstream.js';
import { unsupported } from '../../upstream-error.js';
import { encodeMessagesRequest } from './encode-messages-request.js';
import type { MessagesVendor } from './messages-vendor.js';
import { searchesWithin, type CanonicalRequest } from '../../../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import { objectOf, objectsOf } from '../answer-json.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { readThinkingBlock } from './thinking-blocks.js';

/** What only an answer has a use for; the counting endpoint refuses it. */
const ANSWER_FIELDS = [
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
  'container',
  'inference_geo',
] as const;

/** What vendors of this dialect spell differently around the body. */
interface MessagesEnvelope {
  /** The model's name in the body; undefined where the vendor has it in the address. */
  model: string | undefined;
  /** Members besides the dialect's own, as JSON. */
  adding?: Readonly<Record<string, string>>;
}

interface EncodedMessagesCall {
  body: Buffer;
  /** The tool whose arguments are the answer's text, if any. */
  jsonTool: string | undefined;
}

/**
 * The body of a call: the caller's own bytes where it speaks this dialect, else a translation.
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

/** @throws UpstreamError `unsupported` where the caller's budget for thinking leaves no room below the limit */
function ownLimit({ body }: CanonicalRequest, limit: number): Record<string, string> {
  const { budget_tokens: budget } = objectOf(body.value.thinking);
  if (typeof budget === 'number' && budget >= limit) {
    throw unsupported(
      'max_cost',
      `\`max_cost\` pays for ${limit} tokens of output here, which is no more than \`thinking.budget_tokens\`. Raise the one, or lower the other.`,
    );
  }
  return { max_tokens: String(limit) };
}

/**
 * The body that asks how many tokens a request's prompt has.
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
  /** The vendor's own name of the model; undefined where the vendor has it in the address. */
  upstreamModel: string | undefined;
  /** Who signs this vendor's reasoning, see `nameSignature`. */
  signatureIssuer: string;
  /** Further members that the vendor's endpoint does not take. */
  without?: readonly string[];
  /** Members that it takes besides the caller's, as JSON. */
  adding?: Readonly<Record<string, string>>;
}

/**
 * The body for a vendor that speaks the caller's own dialect: the received bytes with the
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
  const messages = withOwnThoughts(value.messages, signatureIssuer);
  if (messages) edits.set('messages', JSON.stringify(messages));
  if (webSearch) edits.set('tools', JSON.stringify(objectsOf(value.tools).map(withMostUses)));
  return spliceMembers(bytes, members, edits);
}

/** The tool that the vendor searches with may be used as often as credits were set aside for. */
function withMostUses(tool: JsonObject): JsonObject {
  if (!String(tool.type).startsWith('web_search_')) return tool;
  return { ...tool, max_uses: searchesWithin(tool.max_uses) };
}

/**
 * The conversation with thoughts that came through the gateway's own hands: a signature that names
 * its issuer is given back as the issuer wrote it, or the thought is left out where that is another one.
 *
 * @returns undefined when there is nothing to do, as for a caller who only ever spoke to this vendor
 */
function withOwnThoughts(messages: unknown, signatureIssuer: string): unknown[] | undefined {
  if (!Array.isArray(messages) || !messages.some(holdsNamedSignature)) return undefined;
  return messages.flatMap((message: unknown) => {
    if (!holdsNamedSignature(message)) return [message];
    const content = message.content.flatMap((block) => ownThought(block, signatureIssuer));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function holdsNamedSignature(message: unknown): message is JsonObject & { content: unknown[] } {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return false;
  return message.content.some((block) => namedSignatureOf(block) !== undefined);
}

function ownThought(block: unknown, signatureIssuer: string): unknown[] {
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

/** The vendor's own signatures are base64 and hold no colon. */
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
