import type { IncomingHttpHeaders } from 'node:http';
import { InvalidRequestError } from '../platform/errors/gateway-errors.js';
import { isTextRequest, type RoutableRequest } from './work-request.js';

/** What a caller wants its request to be found and added up by, beside what the gateway knows of it. */
export type RequestTags = Readonly<Record<string, string>>;

const TAGS_HEADER = 'x-gateway-tags';
const MAX_TAGS = 10;
const MAX_VALUE_CHARACTERS = 100;
const KEY = /^[a-z0-9_.-]{1,40}$/;

/**
 * The tags of a request: those of the header, and of the body's `metadata` what can be one, in this order
 * and ten at most. Undefined where it has none, which costs nothing.
 *
 * @param metadata where the body's dialect has such a field; whatever it holds
 * @throws InvalidRequestError naming the header, which has nothing but tags
 */
export function readTags(headers: IncomingHttpHeaders, metadata: unknown): RequestTags | undefined {
  const header = headers[TAGS_HEADER];
  if (header === undefined && metadata == null) return undefined;
  // Without a prototype, as callers choose the names.
  const tags: Record<string, string> = Object.create(null) as Record<string, string>;
  let count = typeof header === 'string' ? readHeader(header, tags) : 0;
  if (isObject(metadata)) {
    for (const [key, value] of Object.entries(metadata)) {
      if (count === MAX_TAGS) break;
      if (key in tags || !isTag(key, value)) continue;
      tags[key] = value;
      count++;
    }
  }
  return count === 0 ? undefined : tags;
}

/** The `metadata` of a body whose dialect has it; that of messages names the end user too, which is no tag. */
export function metadataOf(request: RoutableRequest): unknown {
  if (!isTextRequest(request)) return undefined;
  const { metadata } = request.body.value;
  if (request.dialect !== 'messages' || !isObject(metadata)) return metadata;
  const { user_id: _, ...others } = metadata;
  return others;
}

/**
 * One tag as a filter names it, `team=a` or `team:a`.
 *
 * @throws InvalidRequestError (`tag`)
 */
export function parseTagFilter(text: string): readonly [key: string, value: string] {
  const [, key = '', value = ''] = /^([^=:]*)[=:](.*)$/s.exec(text) ?? [];
  if (isTag(key, value)) return [key, value];
  throw new InvalidRequestError('tag', 'tag must be a key and its value, as `team=search`.');
}

export function isTagKey(text: string): boolean {
  return KEY.test(text);
}

function readHeader(header: string, tags: Record<string, string>): number {
  const text = decode(header).trim();
  if (text === '') return 0;
  const parts = text.split(',');
  if (parts.length > MAX_TAGS) throw refusal(`${parts.length} tags are too many`);
  for (const part of parts) {
    const place = part.indexOf('=');
    const key = part.slice(0, Math.max(0, place)).trim();
    const value = part.slice(place + 1).trim();
    if (place === -1 || !isTag(key, value)) throw refusal(`${JSON.stringify(part)} is no tag`);
    if (key in tags) throw refusal(`${JSON.stringify(key)} is there twice`);
    tags[key] = value;
  }
  return parts.length;
}

/** Node reads the bytes of headers as Latin-1, where clients send UTF-8. */
function decode(header: string): string {
  // eslint-disable-next-line no-control-regex -- whatever is not ASCII
  if (/^[\x00-\x7f]*$/.test(header)) return header;
  const text = Buffer.from(header, 'latin1').toString('utf8');
  if (text.includes('\ufffd')) throw refusal('it is not UTF-8');
  return text;
}

function isTag(key: string, value: unknown): value is string {
  return (
    KEY.test(key) &&
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_VALUE_CHARACTERS &&
    value.isWellFormed() &&
    !value.includes('\u0000')
  );
}

function refusal(reason: string): InvalidRequestError {
  return new InvalidRequestError(
    TAGS_HEADER,
    `The header \`X-Gateway-Tags\` takes up to ${MAX_TAGS} tags as \`team=search,feature=answers\`, keys of up to 40 characters of a-z, 0-9, _, . and -, each once, values of 1 to ${MAX_VALUE_CHARACTERS} characters without a comma: ${reason}.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
