import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { isJsonObject, type JsonBody } from '../../../platform/http/json-body.js';

/** No vendor caches prompts shorter than about 1,024 tokens. */
const MIN_CHARACTERS = 4_096;
/** Prefix of each text that is hashed. */
const MAX_TEXT = 4_096;
const MAX_PARTS = 32;
/** Longest id from a caller. */
const MAX_NAME = 1_024;
/** 96 bits. */
const KEY_LENGTH = 16;

/** Members that open a conversation besides its messages, in any dialect. */
const OPENING_MEMBERS = ['tools', 'system', 'instructions'];

/** Returns the conversation id in the header; undefined without one. */
export function readSessionId({ 'x-session-id': header }: IncomingHttpHeaders): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined;
}

/** Returns whether some vendor would cache the prompt. */
export function isCacheable({ promptSize }: Pick<CanonicalRequest, 'promptSize'>): boolean {
  return promptSize.characters >= MIN_CHARACTERS;
}

/**
 * Returns a key that all turns of a conversation share, different for each tenant. Uses the
 * caller's id, else the opening of the conversation. For a stored response, the body includes the
 * earlier turns.
 *
 * @param sessionId from the caller's header
 */
export function conversationKeyOf(
  tenantId: string,
  { body, dialect, models }: Pick<CanonicalRequest, 'body' | 'dialect' | 'models'>,
  sessionId?: string,
): string {
  const hash = createHash('sha256');
  add(hash, tenantId);
  add(hash, models[0]);
  const { prompt_cache_key: cacheKey, session_id: session = sessionId } = body.value;
  const name = [cacheKey, session].find((each) => typeof each === 'string' && each !== '');
  if (typeof name === 'string') {
    add(hash, 'named');
    add(hash, name.slice(0, MAX_NAME));
  } else {
    add(hash, dialect);
    addOpening(hash, body);
  }
  return hash.digest('base64url').slice(0, KEY_LENGTH);
}

/** Hashes tools, system prompt, and messages up to the first user message. */
function addOpening(hash: Hash, { bytes, members, value }: JsonBody): void {
  for (const key of OPENING_MEMBERS) {
    const member = members.findLast((each) => each.key === key);
    if (!member) continue;
    const { valueStart, valueEnd } = member;
    add(hash, `${key} ${valueEnd - valueStart}`);
    hash.update(bytes.subarray(valueStart, Math.min(valueEnd, valueStart + MAX_TEXT)));
  }
  const messages = value.messages ?? value.input;
  if (typeof messages === 'string') return add(hash, messages.slice(0, MAX_TEXT));
  if (!Array.isArray(messages)) return;
  for (const message of messages.slice(0, MAX_PARTS)) {
    if (!isJsonObject(message)) continue;
    addContent(hash, message.content);
    if (message.role === 'user') return;
  }
}

function addContent(hash: Hash, content: unknown): void {
  if (typeof content === 'string') return add(hash, content.slice(0, MAX_TEXT));
  if (!Array.isArray(content)) return;
  for (const part of content.slice(0, MAX_PARTS)) {
    if (!isJsonObject(part)) continue;
    // Images and files are large, and come with text.
    const { type, text } = part;
    add(hash, typeof text === 'string' ? text.slice(0, MAX_TEXT) : String(type));
  }
}

/** Adds the length too, so that different lists of texts never collide. */
function add(hash: Hash, text: string): void {
  hash.update(`${text.length}:`);
  hash.update(text);
}
