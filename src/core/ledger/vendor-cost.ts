import { latestOf, type BillableAttempt } from '../../canonical/billable-request.js';
import type { BillableRoute } from '../../canonical/billable-route.js';
import { pricingOf, type PricedWork } from '../../canonical/exact-pricing.js';
import { asServed } from '../../canonical/served-prices.js';
import type { Usage } from '../../canonical/usage.js';
import { Timestamp } from '../../platform/time/timestamp.js';
import { priceUsage, totalOf } from './pricing.js';
import {
  keyScope,
  type LoggedAttempt,
  type RequestLogDraft,
} from '../request-log/request-log-row.js';
import type { UsageMeter } from './usage-meter.js';

/** Longer lists omit attempts before the last; their cost still counts. */
const MAX_ATTEMPTS = 16;

/**
 * Returns the vendor's cost of a usage in whole credits at the route's prices, rounded up once as a charge
 * is; 0 on BYOK traffic, which the tenant pays.
 */
export function vendorCostOf(
  usage: Usage,
  route: PricedWork & Pick<BillableRoute, 'trafficMode' | 'offer'>,
): number {
  if (route.trafficMode === 'byok') return 0;
  return totalOf(priceUsage(usage, pricingOf(asServed(route, usage), usage)));
}

/**
 * Returns a vendor's usage for an answer that is not charged: as reported, else an estimate if content had
 * started; undefined when unknown.
 */
export function wastedUsage(meter: UsageMeter): Usage | undefined {
  return meter.soFar ?? (meter.firstContentMs === undefined ? undefined : meter.read().usage);
}

/** A vendor call as the log records it. */
export type LoggableAttempt = Omit<BillableAttempt, 'route'> & {
  readonly route: Pick<BillableRoute, 'provider' | 'model'> &
    Partial<
      Pick<
        BillableRoute,
        'pricing' | 'longPrompts' | 'offer' | 'trafficMode' | 'account' | 'scopeKeyId'
      >
    >;
};

/**
 * Adds the vendor calls of a request and their cost to its row. An ordinary request, answered by a single
 * vendor, gets no list.
 *
 * @param lastCost cost of the attempt that answered or came last, unless it has its own usage
 */
export function noteAttempts(
  log: RequestLogDraft,
  attempts: readonly LoggableAttempt[],
  lastCost: number,
): void {
  const [only] = attempts;
  const latest = latestOf(attempts);
  const unknownCost = latest?.usage ? 0 : lastCost;
  log.vendorCost = unknownCost;
  // Only a list shows which of several accounts was used.
  const hasAccount = (only?.route.account ?? only?.route.scopeKeyId) !== undefined;
  const isOrdinary = !only || (only.outcome === 'answered' && !hasAccount);
  if (attempts.length <= 1 && isOrdinary) {
    log.vendorStartedMs = only && msBetween(log.createdAt, only.startedAt);
    return;
  }
  const logged = attempts.map((attempt) => toLogged(attempt, log.createdAt));
  for (const { vendor_cost: cost } of logged) log.vendorCost += cost;
  const lastIndex = latest ? attempts.lastIndexOf(latest) : attempts.length - 1;
  const last = logged[lastIndex]!;
  last.vendor_cost += unknownCost;
  const wasAtWork = last.outcome === 'answered' || log.firstTokenMs !== undefined;
  if (wasAtWork) last.duration_ms = Math.max(last.duration_ms, log.latencyMs - last.started_ms);
  const isLong = logged.length > MAX_ATTEMPTS;
  const kept = logged[Math.max(lastIndex, MAX_ATTEMPTS - 1)]!;
  log.attempts = isLong ? [...logged.slice(0, MAX_ATTEMPTS - 1), kept] : logged;
}

function toLogged(attempt: LoggableAttempt, arrivedAt: Date): LoggedAttempt {
  const { route, outcome, status, startedAt, durationMs, usage } = attempt;
  const { pricing, longPrompts, offer, trafficMode = 'shared' } = route;
  return {
    route: routeName(route),
    ...(route.account !== undefined && { account: route.account }),
    ...(route.scopeKeyId !== undefined && { scope: keyScope(route.scopeKeyId) }),
    outcome,
    status: status ?? (outcome === 'answered' ? 200 : null),
    started_ms: msBetween(arrivedAt, startedAt),
    duration_ms: durationMs,
    ...(attempt.continuesAt !== undefined && { continues_at: attempt.continuesAt }),
    ...(attempt.isHedge && { hedged: true }),
    vendor_cost:
      usage && pricing ? vendorCostOf(usage, { pricing, longPrompts, offer, trafficMode }) : 0,
  };
}

/** Returns a route's name in the log and in reports. */
export function routeName({ provider, model }: Pick<BillableRoute, 'provider' | 'model'>): string {
  return `${provider}/${model}`;
}

function msBetween(earlier: Date, later: Date): number {
  const ms =
    later instanceof Timestamp ? later.msSince(earlier) : later.getTime() - earlier.getTime();
  return Math.max(0, ms);
}
