import type { Caller } from '../access/caller.js';
import type { TakenRates } from '../access/request-rates.js';
import type { BillableRequest } from '../../canonical/billable-request.js';
import { heldSubjects, nameOf, type LimitScope } from '../../canonical/limits.js';
import type { BudgetExcess, CreditRange, HoldOutcome } from './ledger-operations.js';
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
import type { BillableRoute, RouteSize } from '../../canonical/billable-route.js';

/** Credits reserved for one request. Ends in exactly one settlement or release, or in the sweep. */
export class Hold {
  /** False once it is settled, released or transferred. */
  isOpen = true;
  /** The request's use of rate limits. */
  rates: TakenRates | undefined;

  constructor(
    private readonly store: Pick<LedgerStore, 'cover'>,
    readonly caller: Caller,
    readonly request: BillableRequest,
    private amount: number,
  ) {}

  /** Limits the first route's output to what the hold covers. */
  limitOutput(): void {
    this.limit(this.request.routes[0]);
  }

  /** The credits reserved now. */
  get credits(): number {
    return this.amount;
  }

  /**
   * Grows the hold for a more expensive route, and limits the route's output to what the hold covers.
   * When credits already limited the first route's output, grows only to the minimum.
   *
   * @returns false when credits are insufficient
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
    this.limit(route);
    return true;
  }

  private limit(route: BillableRoute): void {
    const { ceiling, output } = limitOutput(route, this.amount);
    route.ceiling = ceiling;
    route.output = output;
  }

  /** Returns the credits added; undefined when the minimum does not fit. */
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

/** Returns the size of a hold for a route in credits: the minimum, and the range in which it may grow. */
export function creditsFor(route: BillableRoute): { least: number; range?: CreditRange } {
  const { ceiling, output } = route;
  if (!output || output.least === output.most) return { least: priceOf(ceiling, route) };
  return {
    least: creditsForOutput(route, output.least),
    range: { most: creditsForOutput(route, output.most), base: creditsForOutput(route, 0) },
  };
}

/**
 * Returns the longest output of a text route that credits pay for, in tokens of one answer; negative
 * when they do not cover the prompt.
 */
export function affordableOutput(route: BillableRoute, credits: number): number {
  return Math.floor(outputWithin(credits, ceilingWith(route, 0), route) / route.output!.choices);
}

/** Returns the size of a hold for `tokens` of output in each answer. */
export function creditsForOutput(route: BillableRoute, tokens: number): number {
  return priceOf(ceilingWith(route, tokens), route);
}

/**
 * Returns the size of a text route whose longest output is capped at what `credits` pay for; undefined
 * when that is less than `leastTokens` of one answer.
 */
export function fitOutput(
  route: BillableRoute,
  credits: number,
  leastTokens: number,
): RouteSize | undefined {
  const { output } = route;
  if (!output) return undefined;
  const most = affordableOutput(route, credits);
  if (most < leastTokens) return undefined;
  const { choices, fitting } = output;
  const least = Math.min(output.least, most);
  const tokens = Math.min(most, fitting);
  return {
    ceiling: ceilingWith(route, least),
    output: { choices, least, most, fitting, tokens, isShort: true, isFitted: true },
  };
}

/** Returns the size of a route whose output is what `credits` pay for, between its minimum and maximum. */
export function limitOutput(route: BillableRoute, credits: number): RouteSize {
  const { ceiling, output } = route;
  if (!output || output.least === output.most) return { ceiling, output };
  const { choices, least, most, fitting, isFitted } = output;
  const affordable = Math.max(least, affordableOutput(route, credits));
  const isShort = affordable < most || isFitted === true;
  const tokens = Math.min(affordable, most, fitting);
  return {
    ceiling: ceilingWith(route, isShort ? tokens : most),
    output: { choices, least, most, fitting, tokens, isShort, ...(isFitted && { isFitted }) },
  };
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

/** The end of any answer may make room. */
const RETRY_AFTER_SECONDS = 2;

const PERIOD_NAMES = {
  hour: 'hourly',
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  total: 'total',
} as const satisfies Record<BudgetExcess['period'], string>;

/** Returns the error for a rejected hold of `amount` credits. */
export function refusalOf(
  amount: number,
  { available, excess }: Extract<HoldOutcome, { admitted: false }>,
  request: BillableRequest,
): GatewayError {
  if (!excess) {
    return new InsufficientCreditsError(
      `This request needs ${amount} credits, and ${available} are available. ` +
        remediesFor(request, available, 'add credits'),
    );
  }
  if ('maxInFlight' in excess) return concurrencyError(excess.scope, excess.maxInFlight);
  const { limit, left } = excess;
  const rest = `of ${limit} credits has ${left} left`;
  const credits = Math.min(left, available);
  if ('period' in excess) {
    const { scope, period, renewsAt } = excess;
    const wait = renewsAt ? `, or wait until ${renewsAt.toISOString()}` : '';
    return new BudgetExceededError(
      `${scope}.budgets.${period}`,
      `This request needs ${amount} credits, and the ${nameOf(scope)}'s ${PERIOD_NAMES[period]} budget ${rest}. ` +
        remediesFor(request, credits, `raise the budget${wait}`),
      renewsAt,
    );
  }
  return new SpendLimitError(
    `This request needs ${amount} credits, and the ${excess.scope}'s monthly spend limit ${rest}. ` +
      remediesFor(request, credits, 'raise the limit, or wait for the next month'),
  );
}

function concurrencyError(scope: LimitScope, maxInFlight: number): RateLimitError {
  return new RateLimitError(
    `${scope}.max_in_flight`,
    `The ${nameOf(scope)}'s limit of ${maxInFlight} concurrent requests (max_in_flight) is reached. Retry when one has finished.`,
    RETRY_AFTER_SECONDS,
    'max_in_flight',
  );
}

/** Returns a sentence with the remedies: making the request fit, or `other`. */
function remediesFor(
  { endpoint, routes: [first] }: BillableRequest,
  credits: number,
  other: string,
): string {
  if (!first.output) return `${other[0]!.toUpperCase()}${other.slice(1)}.`;
  const tokens = affordableOutput(first, credits);
  const field = endpoint === 'responses' ? 'max_output_tokens' : 'max_tokens';
  const fit = tokens < 1 ? 'Shorten the prompt' : `Send \`${field}\`: ${tokens}`;
  return `${fit}, ${other.includes(', or ') ? '' : 'or '}${other}.`;
}
