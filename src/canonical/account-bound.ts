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
