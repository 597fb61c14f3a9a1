import { isJsonObject } from '../common/http/json-body.js';
import type { CacheControl } from './canonical-request.js';

/** A cache mark as the message dialect and other gateways spell it. */
export function toCacheControl(value: unknown): CacheControl | undefined {
  if (!isJsonObject(value) || value.type !== 'ephemeral') return undefined;
  return { ttl: value.ttl === '1h' ? '1h' : '5m' };
}
