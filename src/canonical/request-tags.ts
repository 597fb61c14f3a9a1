import type { IncomingHttpHeaders } from 'node:http';
import { InvalidRequestError } from '../platform/errors/gateway-errors.js';
import { isTextRequest, type RoutableRequest } from './work-request.js';

/** Labels that a caller puts on its request for search and reports. */
export type RequestTags = Readonly<Record<string, string>>;

const TAGS_HEADER = 'x-gateway-tags';
const MAX_TAGS = 10;
const MAX_VALUE_CHARACTERS = 100;
const KEY = /^[a-z0-9_.-]{1,40}$/;

/**
 * Reads a request's tags: those of the header, then valid entries of the body's `metadata`, ten at most.
 * Undefined when there are none.
 *
 * @param metadata the raw field, when the body's dialect has one
 * @throws InvalidRequestError on an invalid header, which can contain nothing but tags
 */
export function readTags(headers: IncomingHttpHeaders, metadata: unknown): RequestTags | undefined {
  const header = headers[TAGS_HEADER];
  if (header === undefined && metadata == null) return undefined;
  // No prototype, because callers choose the names.
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

/** Returns the `metadata` of a body whose dialect has it. In messages it also has the end user, which is no tag. */
export function metadataOf(request: RoutableRequest): unknown {
  if (!isTextRequest(request)) return undefined;
  const { metadata } = request.body.value;
  if (request.dialect !== 'messages' || !isObject(metadata)) return metadata;
  const { user_id: _, ...others } = metadata;
  return others;
}

/**
 * Parses one tag of a filter, `team=a` or `team:a`.
 *
 * @throws InvalidRequestError (`tag`)
 */
export function parseTagFilter(text: string): readonly [key: string, value: string] {
  const [, key = '', value = ''] = /^([^=:]*)[=:](.*)$/s.exec(text) ?? [];
  if (isTag(key, value)) return [key, value];
  throw new InvalidRequestError(
    'tag',
    '`tag` must be a key and a value, for example `team=search`.',
  );
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

/** Decodes a header as UTF-8. Node reads header bytes as Latin-1. */
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
    `The header \`X-Gateway-Tags\` accepts up to ${MAX_TAGS} tags, for example \`team=search,feature=answers\`. Keys must be unique and have up to 40 of the characters a-z, 0-9, _, . and -. Values must have 1 to ${MAX_VALUE_CHARACTERS} characters without a comma: ${reason}.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
