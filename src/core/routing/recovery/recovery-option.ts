import type { IncomingHttpHeaders } from 'node:http';
import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { RECOVERIES, type Recovery } from '../../../canonical/routing-preferences.js';
import { isRecovery } from '../../../canonical/routing-fields.js';
import { isTextRequest, type RoutableRequest } from '../../../canonical/work-request.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';

const RECOVERY_HEADER = 'x-gateway-recovery';

/**
 * Parses `x-gateway-recovery`.
 *
 * @throws InvalidRequestError for an unknown value
 */
export function readRecovery({
  [RECOVERY_HEADER]: value,
}: IncomingHttpHeaders): Recovery | undefined {
  if (value === undefined || isRecovery(value)) return value;
  const values = RECOVERIES.map((recovery) => `\`${recovery}\``).join(', ');
  throw new InvalidRequestError(
    RECOVERY_HEADER,
    `\`X-Gateway-Recovery\` must be one of ${values}.`,
  );
}

/**
 * Returns which routes may recover the answer to a request; undefined for none. Excludes answers
 * that cannot be joined reliably: parallel choices, JSON, log probabilities, and vendor search
 * results.
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
