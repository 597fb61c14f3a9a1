import type { AbandonedAnswers } from './abandoned-answers.js';
import type { Hold } from './hold.js';
import type { Charge } from './ledger-operations.js';
import { capUsage, type PlausibleUsage } from './plausible-usage.js';
import { NO_CHARGE, priceRoute, splitCharge, totalOf } from './pricing.js';
import type { BillableRoute } from '../../canonical/billable-route.js';
import { pricingOf } from '../../canonical/exact-pricing.js';
import { asServed, isUnrequested } from '../../canonical/served-prices.js';
import type { Usage } from '../../canonical/usage.js';
import { draftLogRow, isFree, outcomeOf } from './draft-log-row.js';
import type { PricesUsed, RequestLogDraft } from '../request-log/request-log-row.js';
import type { AnswerEnding } from './settled-answer.js';
import { AnswerWithheldError } from '../../platform/errors/gateway-errors.js';
import type { UsageMeter } from './usage-meter.js';
import { noteAttempts, vendorCostOf, wastedUsage } from './vendor-cost.js';

/** The charge for an answer, and its log row. */
export interface AnswerCharge {
  readonly log: RequestLogDraft;
  readonly charge: Charge;
}

/** Returns the prices to show on the receipt. */
function pricesUsed(served: BillableRoute & PricesUsed, usage: Usage): PricesUsed {
  return served.longPrompts ? { ...served, pricing: pricingOf(served, usage) } : served;
}

/** Computes the charges of answers from how they ended. */
export class AnswerCharges {
  constructor(
    private readonly plausible: PlausibleUsage,
    private readonly abandonedAnswers: AbandonedAnswers,
  ) {}

  /** Returns the charge for an answer, and its log row. */
  async of(hold: Hold, meter: UsageMeter, ending: AnswerEnding): Promise<AnswerCharge> {
    const { caller, request, credits } = hold;
    const outcome = outcomeOf(request, meter, ending);
    const log = draftLogRow(caller, request, meter, outcome, ending.failure);
    if (isFree(request, meter, { ...ending, outcome })) {
      const wasted =
        request.upstreamCalled || outcome === 'failed' ? wastedUsage(meter) : undefined;
      const usage = wasted && capUsage(wasted, 'upstream', meter.route).usage;
      noteAttempts(log, request.attempts ?? [], usage ? vendorCostOf(usage, meter.route) : 0);
      return { log, charge: NO_CHARGE };
    }
    const isWithheld = ending.failure instanceof AnswerWithheldError;
    const isWhole = ending.isWhole || isWithheld || meter.isCounted;
    const read = isWhole
      ? meter.read()
      : { usage: await this.abandonedAnswers.read(hold, meter), source: 'estimated' as const };
    const { usage, source } = this.plausible.cap(log, meter.route, read);
    log.usage = usage;
    log.usageSource = source;
    const route = asServed(meter.route, usage);
    log.billedBy = pricesUsed(route, usage);
    if (route.maxCost !== undefined) log.maxCost = route.maxCost;
    // The vendor's own choice must not cost more than was reserved.
    if (isUnrequested(route)) log.maxCost = Math.min(credits, log.maxCost ?? credits);
    const charge = priceRoute(usage, route);
    const vendorCost = route.trafficMode === 'byok' ? 0 : totalOf(charge);
    noteAttempts(log, request.attempts ?? [], vendorCost);
    if (!isWhole) return { log, charge: splitCharge(charge, credits).charge };
    if (source === 'upstream' && ending.isWhole) request.noteOutput(usage);
    return { log, charge };
  }
}
