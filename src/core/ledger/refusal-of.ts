import type { BillableRequest } from '../../canonical/billable-request.js';
import {
  InsufficientCreditsError,
  SpendLimitError,
  type GatewayError,
} from '../../platform/errors/gateway-errors.js';
import { affordableOutput } from './hold.js';
import type { HoldOutcome } from './ledger-operations.js';

/** What the caller is told when the credits for a hold of `amount` are not to be had. */
export function refusalOf(
  amount: number,
  { available, excess }: Extract<HoldOutcome, { admitted: false }>,
  request: BillableRequest,
): GatewayError {
  if (excess) {
    const { scope, limit, left } = excess;
    return new SpendLimitError(
      `This request needs ${amount} credits set aside and the ${scope}'s limit of ${limit} credits ` +
        `a month leaves ${left}. ${adviceFor(request, Math.min(left, available))}ask for a higher ` +
        'limit, or wait for the next month.',
    );
  }
  return new InsufficientCreditsError(
    `This request needs ${amount} credits set aside and ${available} are available. ` +
      `${adviceFor(request, available)}add credits.`,
  );
}

/** How to make the request fit, if it can be, as the beginning of a sentence that names another way. */
function adviceFor({ endpoint, routes: [first] }: BillableRequest, credits: number): string {
  if (!first.output) return 'To send it, ';
  const tokens = affordableOutput(first, credits);
  if (tokens < 1) {
    return 'They do not reach for the prompt and the shortest answer. Shorten the prompt, or ';
  }
  const field = endpoint === 'responses' ? 'max_output_tokens' : 'max_tokens';
  return `An output limit of ${tokens} tokens would fit: send \`${field}\`: ${tokens}, or `;
}
