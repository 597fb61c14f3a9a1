import type { IncomingHttpHeaders } from 'node:http';
import type { BillableRoute } from '../../canonical/billable-route.js';
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

/** Vendors of the Responses dialect take no lower limit. */
const LEAST_OUTPUT_OF_RESPONSES = 16;

/**
 * What a request may cost at most, by its caller's wish. A route that is admitted never holds more, and
 * is never charged more: see `BillableRoute.maxCost`.
 */
export class MaxCost {
  /** Of the routes that were not admitted, what the cheapest would have needed. */
  private leastNeeded = Infinity;
  private isTextLeftOut = false;

  /** @param leastOutput tokens of one answer, below which no route's output is shortened */
  constructor(
    readonly credits: number,
    readonly mode: MaxCostMode,
    private readonly leastOutput: number,
  ) {}

  /** False for a route that could cost more and can't be made to fit. */
  admits(route: BillableRoute): boolean {
    const { least, range } = creditsFor(route);
    const most = range?.most ?? least;
    const isFit = this.mode === 'fit';
    if (most <= this.credits || (isFit && fitOutput(route, this.credits, this.leastOutput))) {
      route.maxCost = this.credits;
      return true;
    }
    const shortest = isFit && route.output && creditsForOutput(route, this.leastOutput);
    this.leastNeeded = Math.min(this.leastNeeded, shortest || most);
    this.isTextLeftOut ||= route.output !== undefined;
    return false;
  }

  /** What the caller is told when no route was admitted. */
  refusal(): MaxCostError {
    const { credits, leastNeeded, isTextLeftOut } = this;
    const isFit = this.mode === 'fit';
    const needs =
      isFit && isTextLeftOut ? 'the prompt and the shortest answer take' : 'the request could cost';
    const shorter = isFit
      ? 'shorten the prompt'
      : 'send a limit on the output, or `max_cost_mode: "fit"` to have the gateway set one';
    const advice = isTextLeftOut ? `, ${shorter}` : ', ask for less';
    return new MaxCostError(
      `\`max_cost\` is ${credits} credits, and on the cheapest route ${needs} ${leastNeeded}: send \`max_cost\`: ${leastNeeded}${advice}, or name a cheaper model.`,
    );
  }
}

/**
 * What a caller wants its request to cost at most, by its body or else by header; undefined: nothing
 * said.
 *
 * @throws InvalidRequestError for a header's value that it has not, or a mode without an amount
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
      '`max_cost_mode` says how `max_cost` is kept to: send `max_cost` too, in credits.',
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
    '`X-Gateway-Max-Cost` is a whole number of credits, 1 at least.',
  );
}

function readMode(value: string | string[] | undefined): MaxCostMode | undefined {
  if (value === undefined || isMaxCostMode(value)) return value;
  const modes = MAX_COST_MODES.map((mode) => `\`${mode}\``).join(' or ');
  throw new InvalidRequestError(MODE_HEADER, `\`X-Gateway-Max-Cost-Mode\` is ${modes}.`);
}
