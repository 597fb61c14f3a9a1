import type { IncomingHttpHeaders } from 'node:http';
import type { BillableRoute, CostFit } from '../../canonical/billable-route.js';
import {
  MAX_COST_MODES,
  type MaxCostMode,
  type RoutingPreferences,
} from '../../canonical/routing-preferences.js';
import { isMaxCostMode } from '../../canonical/routing-fields.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { InvalidRequestError, MaxCostError } from '../../platform/errors/gateway-errors.js';
import { creditsFor, creditsForOutput, fitOutput } from './hold.js';

const CREDITS_HEADER = 'x-gateway-max-cost';
const MODE_HEADER = 'x-gateway-max-cost-mode';

/** Lowest output limit that vendors of the Responses dialect accept. */
const LEAST_OUTPUT_OF_RESPONSES = 16;

/**
 * The caller's limit on the cost of a request. An admitted route never holds or charges more: see
 * `BillableRoute.maxCost`.
 */
export class MaxCost {
  /** Credits that the cheapest rejected route would have needed. */
  private leastNeeded = Infinity;
  private isTextLeftOut = false;

  /** @param leastOutput tokens of one answer; no route's output is shortened below it */
  constructor(
    readonly credits: number,
    readonly mode: MaxCostMode,
    private readonly leastOutput: number,
  ) {}

  /**
   * Returns the route's cost cap, with its output shortened if necessary; undefined when the route could
   * cost more and cannot be limited to fit.
   */
  fit(route: BillableRoute): CostFit | undefined {
    const { least, range } = creditsFor(route);
    const most = range?.most ?? least;
    const maxCost = this.credits;
    if (most <= maxCost) return { ceiling: route.ceiling, output: route.output, maxCost };
    const isFit = this.mode === 'fit';
    const size = isFit ? fitOutput(route, maxCost, this.leastOutput) : undefined;
    if (size) return { ...size, maxCost };
    const shortest = isFit && route.output && creditsForOutput(route, this.leastOutput);
    this.leastNeeded = Math.min(this.leastNeeded, shortest || most);
    this.isTextLeftOut ||= route.output !== undefined;
    return undefined;
  }

  /** Returns the error for a request without an admitted route. */
  refusal(): MaxCostError {
    const { credits, leastNeeded, isTextLeftOut } = this;
    const isFit = this.mode === 'fit';
    const needs =
      isFit && isTextLeftOut ? 'the prompt and the shortest answer need' : 'the request could cost';
    let remedies = 'request less, or use a cheaper model';
    if (isTextLeftOut) {
      remedies = isFit
        ? 'shorten the prompt, or use a cheaper model'
        : 'set an output limit, use a cheaper model, or send `max_cost_mode: "fit"` to let the gateway limit the output';
    }
    return new MaxCostError(
      `\`max_cost\` is ${credits} credits, and on the cheapest route ${needs} ${leastNeeded}. Send \`max_cost\`: ${leastNeeded}, ${remedies}.`,
    );
  }
}

/**
 * Reads the cost limit from the request's body, or else from its headers; undefined when not set.
 *
 * @throws InvalidRequestError for an invalid header, or a mode without an amount
 */
export function maxCostOf(
  request: RoutableRequest,
  headers: IncomingHttpHeaders,
): MaxCost | undefined {
  const { routing }: { routing: RoutingPreferences } = request;
  const credits = routing.maxCost ?? readCredits(headers[CREDITS_HEADER]);
  const mode = routing.maxCostMode ?? readMode(headers[MODE_HEADER]);
  if (credits === undefined && mode === undefined) return undefined;
  if (credits === undefined) {
    throw new InvalidRequestError(
      routing.maxCostMode ? 'max_cost_mode' : MODE_HEADER,
      '`max_cost_mode` requires `max_cost`. Send `max_cost` too, in credits.',
    );
  }
  const isResponses = isTextRequest(request) && request.dialect === 'responses';
  return new MaxCost(credits, mode ?? 'strict', isResponses ? LEAST_OUTPUT_OF_RESPONSES : 1);
}

function readCredits(value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  const credits = typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : NaN;
  if (Number.isSafeInteger(credits)) return credits;
  throw new InvalidRequestError(
    CREDITS_HEADER,
    '`X-Gateway-Max-Cost` must be a positive integer of credits.',
  );
}

function readMode(value: string | string[] | undefined): MaxCostMode | undefined {
  if (value === undefined || isMaxCostMode(value)) return value;
  const modes = MAX_COST_MODES.map((mode) => `\`${mode}\``).join(' or ');
  throw new InvalidRequestError(MODE_HEADER, `\`X-Gateway-Max-Cost-Mode\` must be ${modes}.`);
}
