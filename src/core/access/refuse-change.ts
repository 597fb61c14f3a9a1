import { PermissionError } from '../../platform/errors/gateway-errors.js';
import type { Caller, Maker } from './caller.js';

/**
 * Lets a routing key change only what routing keys of its tenant made.
 *
 * @param noun what it is, as `guardrail`
 * @throws PermissionError
 */
export function refuseChange(caller: Caller, madeBy: Maker, noun: string): void {
  if (caller.keyType === 'management' || madeBy === 'routing') return;
  throw new PermissionError(
    `This ${noun} was not made by a routing key, so a routing key may only read it; a management key (sk-mgmt-…) is needed to change or delete it.`,
  );
}
