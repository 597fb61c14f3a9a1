import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { isJsonObject, type JsonBody } from '../../../platform/http/json-body.js';

/** No vendor caches prompts of fewer than some 1,024 tokens. */
const MIN_CHARACTERS = 4_096;
/** So much of each text tells conversations apart, whatever more there is. */
const MAX_TEXT = 4_096;
const MAX_PARTS = 32;
/** Of a name that callers make up. */
const MAX_NAME = 1_024;
/** 96 bits. */
const KEY_LENGTH = 16;

/** What opens a conversation besides its messages, in any dialect. */
const OPENING_MEMBERS = ['tools', 'system', 'instructions'];

/** What the header calls the conversation; undefined: nothing. */
export function readSessionId({ 'x-session-id': header }: IncomingHttpHeaders): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined;
}

/** Whether any vendor would keep the prompt. */
export function isCacheable({ promptSize }: Pick<CanonicalRequest, 'promptSize'>): boolean {
  return promptSize.characters >= MIN_CHARACTERS;
}

/**
 * Names the conversation that a request belongs to, so that all of its turns have one name, and those of other tenants
 * another: by what the caller calls it, else by how it opens. The turns that a stored response follows are in the
 * body.
 *
 * @param sessionId as the caller's header has it
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

/** Tools, what the system says, and messages up to the first of the user. */
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
    // Pictures and files are large, and stand beside words.
    const { type, text } = part;
    add(hash, typeof text === 'string' ? text.slice(0, MAX_TEXT) : String(type));
  }
}

/** With its length, so that no two lists of texts are one. */
function add(hash: Hash, text: string): void {
  hash.update(`${text.length}:`);
  hash.update(text);
}
