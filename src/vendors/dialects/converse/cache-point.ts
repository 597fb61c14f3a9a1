import type { CacheControl } from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { ConverseTraits } from './converse-traits.js';

/** The block that follows a part which the caller wants cached; none where the model caches nothing. */
export function cachePoint(
  cacheControl: CacheControl | undefined,
  { cachePoints, longCache }: Pick<ConverseTraits, 'cachePoints' | 'longCache'>,
): JsonObject[] {
  if (!cacheControl || cachePoints === 'none') return [];
  const isLong = cacheControl.ttl === '1h' && longCache;
  return [{ cachePoint: { type: 'default', ...(isLong && { ttl: '1h' }) } }];
}
