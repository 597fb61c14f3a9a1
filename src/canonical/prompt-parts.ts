import type { MediaSource, CacheControl } from './canonical-request.js';

const DATA_URL = /^data:([^;,]{1,100})(?:;[^;,]{1,100}){0,4};base64,/i;

/** Parses a media source: a data URL into its bytes, any other URL unchanged. Bare base64, which some clients send, is a PDF. */
export function readMediaSource(url: string): MediaSource {
  const match = DATA_URL.exec(url.slice(0, 600));
  if (match) {
    return { kind: 'inline', mediaType: match[1]!.toLowerCase(), data: url.slice(match[0].length) };
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(url.slice(0, 40))) return { kind: 'url', url };
  return { kind: 'inline', mediaType: 'application/pdf', data: url };
}

/** Parses a cache mark of the chat and messages dialects. */
export function toCacheControl(value: unknown): CacheControl | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('type' in value) || value.type !== 'ephemeral') return undefined;
  return { ttl: 'ttl' in value && value.ttl === '1h' ? '1h' : '5m' };
}

/** Returns a member to spread into an object: empty when the value is null or undefined. */
export function optional<Key extends string, Value>(
  key: Key,
  value: Value | null | undefined,
): { [K in Key]?: Value };
export function optional(key: string, value: unknown): object {
  return value == null ? {} : { [key]: value };
}
