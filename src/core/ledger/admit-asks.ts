import type { AccountStates } from './account-states.js';
import type { Ask, HoldEntry } from './ledger-entry.js';
import type { SpendLimits } from './spend-limits.js';

export interface AdmittedAsks {
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
export function admitAsks(
  accounts: AccountStates,
  asks: readonly Ask[],
  openHolds: ReadonlySet<string>,
  limits?: SpendLimits,
): AdmittedAsks {
  const admitted: AdmittedAsks = { holds: [], covers: new Map() };
  for (const ask of asks) {
    if (ask.kind === 'hold') {
      const { amount } = ask.operation;
      const excess = limits?.excessOf(ask, amount);
      if (!excess && accounts.open(ask.tenantId, amount)) {
        limits?.count(ask, amount);
        ask.outcome = { admitted: true };
        admitted.holds.push(ask);
      } else {
        const available = accounts.available(ask.tenantId);
        ask.outcome = { admitted: false, available, ...(excess && { excess }) };
      }
    } else {
      // A hold that is gone was released by a sweeper that took this process for dead.
      ask.outcome =
        openHolds.has(ask.requestId) &&
        limits?.excessOf(ask, ask.additional) === undefined &&
        accounts.open(ask.tenantId, ask.additional);
      if (ask.outcome) {
        limits?.count(ask, ask.additional);
        const before = admitted.covers.get(ask.requestId) ?? 0;
        admitted.covers.set(ask.requestId, before + ask.additional);
      }
    }
  }
  return admitted;
}
