import type { MediaSource, CacheControl } from './canonical-request.js';

const DATA_URL = /^data:([^;,]{1,100})(?:;[^;,]{1,100}){0,4};base64,/i;

/** A data URL's own bytes, any other URL as it is; bare base64, which some clients send, is a PDF. */
export function readMediaSource(url: string): MediaSource {
  const match = DATA_URL.exec(url.slice(0, 600));
  if (match) {
    return { kind: 'inline', mediaType: match[1]!.toLowerCase(), data: url.slice(match[0].length) };
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(url.slice(0, 40))) return { kind: 'url', url };
  return { kind: 'inline', mediaType: 'application/pdf', data: url };
}

/** A cache mark as callers of the chat and message dialects spell it. */
export function toCacheControl(value: unknown): CacheControl | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, ttl } = value as { type?: unknown; ttl?: unknown };
  return type === 'ephemeral' ? { ttl: ttl === '1h' ? '1h' : '5m' } : undefined;
}

/** A member to spread into an object: none where the value is null or undefined. */
export function optional<Key extends string, Value>(
  key: Key,
  value: Value | null | undefined,
): { [K in Key]?: Value } {
  return value == null ? {} : ({ [key]: value } as { [K in Key]?: Value });
}
