import type { Caller } from '../access/caller.js';
import type { TakenRates } from '../access/request-rates.js';
import type { BillableRequest } from '../../canonical/billable-request.js';
import { heldSubjects, nameOf } from '../../canonical/limits.js';
import type { CreditRange, HoldOutcome } from './ledger-operations.js';
import type { LedgerStore } from './ledger-store.js';
import { pricingOf } from '../../canonical/exact-pricing.js';
import type { Usage } from '../../canonical/usage.js';
import { outputWithin, priceRoute, totalOf } from './pricing.js';
import {
  BudgetExceededError,
  InsufficientCreditsError,
  RateLimitError,
  SpendLimitError,
  type GatewayError,
} from '../../platform/errors/gateway-errors.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

/** Credits set aside for one request. It ends in exactly one settlement, or in the sweep. */
export class Hold {
  /** Until it is settled, given back or transferred. */
  isOpen = true;
  /** What it has taken of somebody's minute. */
  rates: TakenRates | undefined;

  constructor(
    private readonly store: Pick<LedgerStore, 'cover'>,
    readonly caller: Caller,
    readonly request: BillableRequest,
    private amount: number,
  ) {}

  /** Makes the first route's output what the hold pays for. */
  limitOutput(): void {
    limitOutput(this.request.routes[0], this.amount);
  }

  /** What is set aside now. */
  get credits(): number {
    return this.amount;
  }

  /**
   * Makes the hold large enough for a dearer route, and the route's output short enough for the hold.
   * Where the credits set a limit on the first route's output, no more is asked for than the least.
   *
   * @returns false when the credits do not reach
   */
  async cover(route: BillableRoute): Promise<boolean> {
    const { least, range } = creditsFor(route);
    const wanted = range?.most ?? least;
    const isEnough = least <= this.amount && this.request.routes[0].output?.isShort === true;
    if (wanted > this.amount && !isEnough) {
      const added = await this.grow(least, range);
      if (added === undefined) return false;
      this.amount += added;
    }
    limitOutput(route, this.amount);
    return true;
  }

  /** @returns the credits added; undefined when the least does not fit */
  private grow(least: number, range: CreditRange | undefined): Promise<number | undefined> {
    const { tenantId, apiKeyId, spendLimits } = this.caller;
    const held = this.amount;
    return this.store.cover({
      requestId: this.request.requestId,
      tenantId,
      additional: Math.max(0, least - held),
      ...(range && { range: { ...range, held } }),
      limitedKeyId: spendLimits && apiKeyId,
      subjects: heldSubjects(this.request.limits),
    });
  }
}

/** Returns what a hold for a route costs, in credits: the least it takes, and the range it may grow in. */
export function creditsFor(route: BillableRoute): { least: number; range?: CreditRange } {
  const { ceiling, output } = route;
  if (!output || output.least === output.most) return { least: priceOf(ceiling, route) };
  return {
    least: creditsForOutput(route, output.least),
    range: { most: creditsForOutput(route, output.most), base: creditsForOutput(route, 0) },
  };
}

/**
 * Returns the longest output that credits pay for on a text route, in tokens of one answer. Negative when
 * they do not cover the prompt.
 */
export function affordableOutput(route: BillableRoute, credits: number): number {
  return Math.floor(outputWithin(credits, ceilingWith(route, 0), route) / route.output!.choices);
}

/** Returns the credits of a hold for `tokens` of output in each answer. */
export function creditsForOutput(route: BillableRoute, tokens: number): number {
  return priceOf(ceilingWith(route, tokens), route);
}

/**
 * Caps the longest output of a text route at what `credits` pay for.
 *
 * @returns false, with the route unchanged, when that is less than `leastTokens` of one answer
 */
export function fitOutput(route: BillableRoute, credits: number, leastTokens: number): boolean {
  const { output } = route;
  if (!output) return false;
  const tokens = affordableOutput(route, credits);
  if (tokens < leastTokens) return false;
  output.most = tokens;
  output.least = Math.min(output.least, tokens);
  output.tokens = Math.min(tokens, output.fitting);
  output.isShort = output.isFitted = true;
  route.ceiling = ceilingWith(route, output.least);
  return true;
}

/** Sets the route's output to what `credits` pay for, between its least and its most. */
export function limitOutput(route: BillableRoute, credits: number): void {
  const { output } = route;
  if (!output || output.least === output.most) return;
  const affordable = Math.max(output.least, affordableOutput(route, credits));
  output.isShort = affordable < output.most || output.isFitted === true;
  output.tokens = Math.min(affordable, output.most, output.fitting);
  route.ceiling = ceilingWith(route, output.isShort ? output.tokens : output.most);
}

/** Returns the route's worst-case usage with `tokens` of output in each answer. */
function ceilingWith(route: BillableRoute, tokens: number): Usage {
  const { ceiling, output } = route;
  const outputTokens = tokens * output!.choices;
  const pricing = pricingOf(route, ceiling);
  // Any of the output may be reasoning, so it is priced at the higher of the two rates.
  const reasoningTokens =
    pricing.reasoning > pricing.completion ? outputTokens : ceiling.reasoningTokens;
  return { ...ceiling, outputTokens, reasoningTokens };
}

/** Returns the cost of a worst-case usage on a route, in credits. */
function priceOf(usage: Usage, route: BillableRoute): number {
  return totalOf(priceRoute(usage, route));
}

/** Room may come with the end of any answer. */
const RETRY_AFTER_SECONDS = 2;

/** What the caller is told when the credits for a hold of `amount` are not to be had. */
export function refusalOf(
  amount: number,
  { available, excess }: Extract<HoldOutcome, { admitted: false }>,
  request: BillableRequest,
): GatewayError {
  if (excess && 'maxInFlight' in excess) {
    const { scope, maxInFlight } = excess;
    return new RateLimitError(
      `${scope}.max_in_flight`,
      `This ${nameOf(scope)} may have ${maxInFlight} requests open at once (max_in_flight). Try again when one has ended.`,
      RETRY_AFTER_SECONDS,
      'max_in_flight',
    );
  }
  if (excess && 'period' in excess) {
    const { scope, period, limit, left, renewsAt } = excess;
    const span = period === 'total' ? 'in total' : `${period === 'hour' ? 'an' : 'a'} ${period}`;
    const renewal = renewsAt
      ? `or wait until ${renewsAt.toISOString()}, when it begins anew.`
      : 'as this one never begins anew.';
    return new BudgetExceededError(
      `${scope}.budgets.${period}`,
      `This request needs ${amount} credits set aside and the ${nameOf(scope)}'s budget of ${limit} credits ` +
        `${span} leaves ${left}. ${adviceFor(request, Math.min(left, available))}ask for a higher budget, ${renewal}`,
      renewsAt,
    );
  }
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
