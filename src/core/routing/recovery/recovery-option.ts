import type { IncomingHttpHeaders } from 'node:http';
import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { RECOVERIES, type Recovery } from '../../../canonical/routing-preferences.js';
import { isRecovery } from '../../../canonical/routing-fields.js';
import { isTextRequest, type RoutableRequest } from '../../../canonical/work-request.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';

const RECOVERY_HEADER = 'x-gateway-recovery';

/** What a caller wants by header. @throws InvalidRequestError for a value that it has not */
export function readRecovery({
  [RECOVERY_HEADER]: value,
}: IncomingHttpHeaders): Recovery | undefined {
  if (value === undefined || isRecovery(value)) return value;
  const values = RECOVERIES.map((recovery) => `\`${recovery}\``).join(', ');
  throw new InvalidRequestError(RECOVERY_HEADER, `\`X-Gateway-Recovery\` is one of ${values}.`);
}

/**
 * Who may go on with the answer to a request, should it break off; undefined: nobody. What can't be
 * joined for sure is left as it is: several answers at once, JSON, single tokens' probabilities, and
 * what a vendor has looked up.
 */
export function recoveryOf(
  request: RoutableRequest,
  wish: Recovery | undefined,
): Exclude<Recovery, 'off'> | undefined {
  if (wish === undefined || wish === 'off' || !isTextRequest(request) || !request.stream)
    return undefined;
  return isJoinable(request) ? wish : undefined;
}

function isJoinable({ choices, webSearch, prompt }: CanonicalRequest): boolean {
  if (choices > 1 || webSearch) return false;
  const { responseFormat, sampling } = prompt();
  return (responseFormat ?? { type: 'text' }).type === 'text' && sampling.logprobs !== true;
}
