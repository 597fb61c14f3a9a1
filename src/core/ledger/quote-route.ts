import type { BillableRoute } from '../../canonical/billable-route.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import { asServed } from '../../canonical/served-prices.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { shareOf } from './admit-requests.js';
import { creditsFor, limitOutput } from './hold.js';
import { priceRoute, totalOf } from './pricing.js';

/** Tokens of an answer where nothing is known of earlier ones. */
const RULE_OUTPUT_TOKENS = 500;

/** What a request would cost on one route, in credits, and what that is reckoned from. */
export interface RouteQuote {
  readonly least: number;
  readonly likely: number;
  /** What the hold would be now. */
  readonly worst: number;
  readonly expected: Usage;
  readonly most: Usage;
}

/**
 * What a request would cost on a route, which then has the output that a hold would give it.
 *
 * @param available credits that no hold has claimed
 * @param usualOutput tokens of one answer; undefined: nothing is known
 */
export function quoteRoute(
  request: RoutableRequest,
  route: BillableRoute,
  available: number,
  usualOutput: number | undefined,
): RouteQuote {
  const { least: fixed, range } = creditsFor(route);
  const worst = range ? shareOf(fixed, range, available) : fixed;
  limitOutput(route, worst);
  const most = { ...route.ceiling };
  const { least, expected } = isTextRequest(request)
    ? textUses(request.promptSize, route, usualOutput)
    : { least: halfOf(request.estimate), expected: request.estimate };
  const costOf = (usage: Usage): number =>
    Math.min(worst, totalOf(priceRoute(usage, asServed(route, usage))));
  const leastCost = costOf(least);
  return {
    least: leastCost,
    likely: Math.max(leastCost, costOf(expected)),
    worst,
    expected,
    most,
  };
}

/** The shortest answer to a short count of the prompt that the vendor has in its cache, and a usual one. */
function textUses(
  { characters, tokens }: { characters: number; tokens: number },
  { ceiling, output, pricing }: BillableRoute,
  usualOutput = RULE_OUTPUT_TOKENS,
): { least: Usage; expected: Usage } {
  const { choices, fitting } = output!;
  const estimate = estimateTokens(characters);
  // Pictures, pages and sounds stand beside the text in the bound.
  const media = ceiling.webSearches > 0 ? 0 : Math.max(0, ceiling.inputTokens - tokens);
  const inputTokens = Math.min(ceiling.inputTokens, estimate + media);
  const longest = Math.min(ceiling.outputTokens, fitting * choices);
  const outputTokens = Math.max(choices, Math.min(Math.round(usualOutput) * choices, longest));
  const webSearches = Math.min(1, ceiling.webSearches);
  const leastInput = Math.floor(estimate / 2);
  const cacheReadTokens = pricing.cacheRead < pricing.prompt ? leastInput : 0;
  return {
    least: { ...NO_USAGE, inputTokens: leastInput, cacheReadTokens, outputTokens: choices },
    expected: { ...NO_USAGE, inputTokens, outputTokens, webSearches },
  };
}

/** Of what vendors count in their own way, half as much as is estimated here. */
function halfOf(estimate: Usage): Usage {
  const [inputTokens, outputTokens, audioMs] = [
    estimate.inputTokens,
    estimate.outputTokens,
    estimate.audioMs,
  ].map((count) => Math.floor(count / 2)) as [number, number, number];
  return { ...estimate, inputTokens, outputTokens, audioMs };
}
