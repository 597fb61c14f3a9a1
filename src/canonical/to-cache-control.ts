import type { CacheControl } from './canonical-request.js';

/** A cache mark as callers of the chat and message dialects spell it. */
export function toCacheControl(value: unknown): CacheControl | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, ttl } = value as { type?: unknown; ttl?: unknown };
  return type === 'ephemeral' ? { ttl: ttl === '1h' ? '1h' : '5m' } : undefined;
}
