import type { JsonObject } from '../platform/http/json-body.js';
import type { AccountBoundParam } from './canonical-request.js';

/**
 * A field that shared capacity refuses.
 *
 * @param param dotted path of the field
 * @param reason why, as the end of a sentence
 */
export function notOnSharedCapacity(param: string, reason: string): AccountBoundParam {
  return { param, message: `\`${param}\` is not available on shared capacity: ${reason}.` };
}

/** A `service_tier` of an OpenAI-style body that shared capacity refuses; undefined where it does not. */
export function findBilledServiceTier({
  service_tier: tier,
}: JsonObject): AccountBoundParam | undefined {
  if (tier == null || tier === 'auto' || tier === 'default') return undefined;
  return notOnSharedCapacity('service_tier', 'other service tiers are billed at other prices');
}
