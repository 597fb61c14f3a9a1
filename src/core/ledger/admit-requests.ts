import type { AccountStates } from './account-states.js';
import type { Reservation, CoverEntry, HoldEntry } from './ledger-entry.js';
import type { CreditRange } from './ledger-operations.js';
import type { SpendLimits } from './spend-limits.js';

/**
 * Largest share of the available credits that an open-ended output may reserve
 * (docs/decisions/0018). Keep in step with the database function `ledger_left_after_hold`.
 */
const OUTPUT_SHARE = 32;

export interface AdmittedRequests {
  holds: HoldEntry[];
  /** Growth of open holds in credits, by request id. */
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
  reservations: readonly Reservation[],
  openHolds: ReadonlySet<string>,
  limits?: SpendLimits,
): AdmittedRequests {
  const admitted: AdmittedRequests = { holds: [], covers: new Map() };
  for (const reservation of reservations) {
    const needed =
      reservation.kind === 'hold'
        ? holdOf(reservation, accounts, limits)
        : coverOf(reservation, accounts, limits);
    const excess = limits?.excessOf(reservation, needed);
    // Another instance's sweeper releases holds of processes that it takes for dead.
    const isOpen = reservation.kind === 'hold' || openHolds.has(reservation.requestId);
    const isAdmitted = isOpen && !excess && accounts.open(reservation.tenantId, needed);
    if (isAdmitted) limits?.count(reservation, needed);
    if (reservation.kind === 'cover') {
      reservation.outcome = isAdmitted;
      reservation.granted = needed;
      if (!isAdmitted) continue;
      const before = admitted.covers.get(reservation.requestId) ?? 0;
      admitted.covers.set(reservation.requestId, before + needed);
    } else if (isAdmitted) {
      const { range } = reservation.operation;
      if (range) reservation.granted = needed;
      reservation.outcome = { admitted: true, ...(range && { granted: needed }) };
      admitted.holds.push(reservation);
    } else {
      const available = accounts.available(reservation.tenantId);
      reservation.outcome = { admitted: false, available, ...(excess && { excess }) };
    }
  }
  return admitted;
}

/**
 * Returns the credits to reserve for a request without an output limit: as much of the longest output
 * as fits the share of available credits, but at least the minimum even when it does not fit.
 */
export function shareOf(least: number, { most, base }: CreditRange, available: number): number {
  const share = Math.min(available, base + Math.floor(available / OUTPUT_SHARE));
  return Math.min(most, Math.max(least, share));
}

function holdOf(reservation: HoldEntry, accounts: AccountStates, limits?: SpendLimits): number {
  const { amount, range } = reservation.operation;
  return range ? shareOf(amount, range, roomFor(reservation, accounts, limits)) : amount;
}

/** Returns the growth of a hold, sized like a new request. */
function coverOf(reservation: CoverEntry, accounts: AccountStates, limits?: SpendLimits): number {
  const { additional, range } = reservation.operation;
  if (!range) return additional;
  const { held } = range;
  const whole = shareOf(held + additional, range, held + roomFor(reservation, accounts, limits));
  return Math.max(0, whole - held);
}

function roomFor(reservation: Reservation, accounts: AccountStates, limits?: SpendLimits): number {
  const available = accounts.available(reservation.tenantId);
  return limits ? Math.min(available, limits.leftFor(reservation)) : available;
}
