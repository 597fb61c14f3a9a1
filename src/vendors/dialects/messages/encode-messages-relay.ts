import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import { unsealThinking } from './messages-seal.js';

/** Fields of the body that are the gateway's own or another gateway's, and mean nothing to a vendor. */
const GATEWAY_FIELDS = [
  'models',
  'provider',
  'route',
  'trace',
  'transforms',
  'plugins',
  'usage',
] as const;

export interface MessagesRelayOptions {
  /** The vendor's own name of the model; undefined where the vendor has it in the address. */
  upstreamModel: string | undefined;
  /** Who seals this vendor's reasoning, see `reasoning-seal.ts`. */
  sealMaker: string;
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
  { body: { bytes, members, value } }: CanonicalRequest,
  { upstreamModel, sealMaker, without = [], adding = {} }: MessagesRelayOptions,
): Buffer {
  const edits = new Map<string, string | undefined>(Object.entries(adding));
  edits.set('model', upstreamModel === undefined ? undefined : JSON.stringify(upstreamModel));
  for (const field of [...GATEWAY_FIELDS, ...without]) {
    if (field in value) edits.set(field, undefined);
  }
  const messages = withOwnThoughts(value.messages, sealMaker);
  if (messages) edits.set('messages', JSON.stringify(messages));
  return spliceMembers(bytes, members, edits);
}

/**
 * The conversation with thoughts that came through the gateway's own hands: a seal that names its
 * maker is given back as the maker wrote it, or the thought is left out where that is another one.
 *
 * @returns undefined when there is nothing to do, as for a caller who only ever spoke to this vendor
 */
function withOwnThoughts(messages: unknown, sealMaker: string): unknown[] | undefined {
  if (!Array.isArray(messages) || !messages.some(holdsNamedSeal)) return undefined;
  return messages.flatMap((message: unknown) => {
    if (!holdsNamedSeal(message)) return [message];
    const content = message.content.flatMap((block) => ownThought(block, sealMaker));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function holdsNamedSeal(message: unknown): message is JsonObject & { content: unknown[] } {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return false;
  return message.content.some((block) => namedSealOf(block) !== undefined);
}

function ownThought(block: unknown, sealMaker: string): unknown[] {
  const named = namedSealOf(block);
  if (named === undefined) return [block];
  const { thinking } = block as JsonObject;
  const own = unsealThinking(sealMaker, named, typeof thinking === 'string' ? thinking : '');
  return own ? [own] : [];
}

/** The vendor's own seals are base64 and hold no colon. */
function namedSealOf(block: unknown): string | undefined {
  if (!isJsonObject(block)) return undefined;
  const seal =
    block.type === 'thinking'
      ? block.signature
      : block.type === 'redacted_thinking'
        ? block.data
        : undefined;
  return typeof seal === 'string' && /^[a-z][a-z-]{0,30}:/.test(seal) ? seal : undefined;
}
