import type { AccountStates } from './account-states.js';
import type { Ask, CoverEntry, HoldEntry } from './ledger-entry.js';
import type { CreditRange } from './ledger-operations.js';
import type { SpendLimits } from './spend-limits.js';

/**
 * Largest share of the available credits that an open-ended output may reserve
 * (docs/decisions/0018). Keep in step with the database function `ledger_left_after_hold`.
 */
const OUTPUT_SHARE = 32;

export interface AdmittedRequests {
  holds: HoldEntry[];
  /** Credits by which open holds grow, by request id. */
  covers: Map<string, number>;
}

/**
 * Decides holds and covers in order of arrival. A rejected one does not block smaller ones after
 * it.
 *
 * @param limits of the tenants and keys that have any
 */
export function admitRequests(
  accounts: AccountStates,
  asks: readonly Ask[],
  openHolds: ReadonlySet<string>,
  limits?: SpendLimits,
): AdmittedRequests {
  const admitted: AdmittedRequests = { holds: [], covers: new Map() };
  for (const ask of asks) {
    const needed =
      ask.kind === 'hold' ? holdOf(ask, accounts, limits) : coverOf(ask, accounts, limits);
    const excess = limits?.excessOf(ask, needed);
    // A sweeper that took this process for dead has released such a hold.
    const isOpen = ask.kind === 'hold' || openHolds.has(ask.requestId);
    const isAdmitted = isOpen && !excess && accounts.open(ask.tenantId, needed);
    if (isAdmitted) limits?.count(ask, needed);
    if (ask.kind === 'cover') {
      ask.outcome = isAdmitted;
      ask.granted = needed;
      if (!isAdmitted) continue;
      const before = admitted.covers.get(ask.requestId) ?? 0;
      admitted.covers.set(ask.requestId, before + needed);
    } else if (isAdmitted) {
      const { range } = ask.operation;
      if (range) ask.granted = needed;
      ask.outcome = { admitted: true, ...(range && { granted: needed }) };
      admitted.holds.push(ask);
    } else {
      const available = accounts.available(ask.tenantId);
      ask.outcome = { admitted: false, available, ...(excess && { excess }) };
    }
  }
  return admitted;
}

/**
 * Returns the credits for a request of open length: as much of the longest output as fits the share
 * of available credits, but at least the minimum, whether it fits or not.
 */
export function shareOf(least: number, { most, base }: CreditRange, available: number): number {
  const share = Math.min(available, base + Math.floor(available / OUTPUT_SHARE));
  return Math.min(most, Math.max(least, share));
}

function holdOf(ask: HoldEntry, accounts: AccountStates, limits?: SpendLimits): number {
  const { amount, range } = ask.operation;
  return range ? shareOf(amount, range, roomFor(ask, accounts, limits)) : amount;
}

/** Returns the growth of a hold in the form of a new request. */
function coverOf(ask: CoverEntry, accounts: AccountStates, limits?: SpendLimits): number {
  const { additional, range } = ask.operation;
  if (!range) return additional;
  const { held } = range;
  const whole = shareOf(held + additional, range, held + roomFor(ask, accounts, limits));
  return Math.max(0, whole - held);
}

function roomFor(ask: Ask, accounts: AccountStates, limits?: SpendLimits): number {
  const available = accounts.available(ask.tenantId);
  return limits ? Math.min(available, limits.leftFor(ask)) : available;
}
