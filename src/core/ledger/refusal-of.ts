import type { BillableRequest } from '../../canonical/billable-request.js';
import {
  InsufficientCreditsError,
  SpendLimitError,
  type GatewayError,
} from '../../platform/errors/gateway-errors.js';
import type { HoldOutcome } from './ledger-operations.js';

/** What the caller is told when the credits for a hold of `amount` are not to be had. */
export function refusalOf(
  amount: number,
  { available, excess }: Extract<HoldOutcome, { admitted: false }>,
  request: BillableRequest,
): GatewayError {
  const outputLimit = outputLimitOf(request);
  const lowerIt = outputLimit ? ` lower \`${outputLimit}\`, or` : ' or';
  if (excess) {
    return new SpendLimitError(
      `This request needs ${amount} credits set aside and the ${excess.scope}'s limit of ` +
        `${excess.limit} credits a month leaves ${excess.left}. Ask for a higher limit,${lowerIt} ` +
        'wait for the next month.',
    );
  }
  return new InsufficientCreditsError(
    `This request needs ${amount} credits set aside and ${available} are available. ` +
      (outputLimit ? `Add credits, or lower \`${outputLimit}\`.` : 'Add credits.'),
  );
}

/** What callers of the endpoint call the limit on output tokens, where it has one. */
function outputLimitOf({ endpoint, routes: [first] }: BillableRequest): string | undefined {
  if (first.ceiling.outputTokens === 0) return undefined;
  return endpoint === 'responses' ? 'max_output_tokens' : 'max_tokens';
}
