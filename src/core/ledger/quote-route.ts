import type { BillableRoute } from '../../canonical/billable-route.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import { asServed } from '../../canonical/served-prices.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { shareOf } from './admit-requests.js';
import { creditsFor, limitOutput } from './hold.js';
import { priceRoute, totalOf } from './pricing.js';

/** Assumed tokens of an answer when no earlier ones are known. */
const DEFAULT_OUTPUT_TOKENS = 500;

/** The cost of a request on one route in credits, with the usage it is computed from. */
export interface RouteQuote<Route extends BillableRoute = BillableRoute> {
  /** The route with the output that a hold would allow. */
  readonly route: Route;
  readonly least: number;
  readonly likely: number;
  /** The size of a hold now. */
  readonly worst: number;
  readonly expected: Usage;
  readonly most: Usage;
}

/**
 * Returns the cost of a request on a route.
 *
 * @param available credits not reserved by a hold
 * @param usualOutput tokens of one answer; undefined when unknown
 */
export function quoteRoute<Route extends BillableRoute>(
  request: RoutableRequest,
  planned: Route,
  available: number,
  usualOutput: number | undefined,
): RouteQuote<Route> {
  const { least: fixed, range } = creditsFor(planned);
  const worst = range ? shareOf(fixed, range, available) : fixed;
  const route = { ...planned, ...limitOutput(planned, worst) };
  const most = { ...route.ceiling };
  const { least, expected } = isTextRequest(request)
    ? textUses(request.promptSize, route, usualOutput)
    : { least: halfOf(request.estimate), expected: request.estimate };
  const costOf = (usage: Usage): number =>
    Math.min(worst, totalOf(priceRoute(usage, asServed(route, usage))));
  const leastCost = costOf(least);
  return {
    route,
    least: leastCost,
    likely: Math.max(leastCost, costOf(expected)),
    worst,
    expected,
    most,
  };
}

/** Returns the cheapest usage (half the estimate, cached, with the shortest answer) and a usual one. */
function textUses(
  { characters, tokens }: { characters: number; tokens: number },
  { ceiling, output, pricing }: BillableRoute,
  usualOutput = DEFAULT_OUTPUT_TOKENS,
): { least: Usage; expected: Usage } {
  const { choices, fitting } = output!;
  const estimate = estimateTokens(characters);
  // The bound includes images, pages and audio beyond the text.
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

/** Halves the counts that vendors measure in their own way. */
function halfOf(estimate: Usage): Usage {
  const [inputTokens, outputTokens, audioMs] = [
    estimate.inputTokens,
    estimate.outputTokens,
    estimate.audioMs,
  ].map((count) => Math.floor(count / 2)) as [number, number, number];
  return { ...estimate, inputTokens, outputTokens, audioMs };
}
