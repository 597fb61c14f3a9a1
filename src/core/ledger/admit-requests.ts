import type { AccountStates } from './account-states.js';
import type { Ask, CoverEntry, HoldEntry } from './ledger-entry.js';
import type { CreditRange } from './ledger-operations.js';
import type { SpendLimits } from './spend-limits.js';

/**
 * An output of open length may claim this share of what is available (docs/decisions/0018). The function
 * `ledger_left_after_hold` of the database has the same figure.
 */
const OUTPUT_SHARE = 32;

export interface AdmittedRequests {
  holds: HoldEntry[];
  /** Credits by which open holds grow, by request id. */
  covers: Map<string, number>;
}

/**
 * Decides holds and covers in the order of their arrival. One that does not fit is refused and
 * does not stand in the way of smaller ones behind it.
 *
 * @param limits those of the tenants and keys that have any
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
    // A hold that is gone was released by a sweeper that took this process for dead.
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
 * The credits that a request of open length gets: for its output, as much of the longest as stays
 * within a share of what is available, but the least in any case, fit or not.
 */
export function shareOf(least: number, { most, base }: CreditRange, available: number): number {
  const share = Math.min(available, base + Math.floor(available / OUTPUT_SHARE));
  return Math.min(most, Math.max(least, share));
}

function holdOf(ask: HoldEntry, accounts: AccountStates, limits?: SpendLimits): number {
  const { amount, range } = ask.operation;
  return range ? shareOf(amount, range, roomFor(ask, accounts, limits)) : amount;
}

/** What the hold lacks, as if all of it were asked for anew. */
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
