import type { AccountStates } from './account-states.js';
import type { Ask, HoldEntry } from './ledger-entry.js';

export interface AdmittedAsks {
  holds: HoldEntry[];
  /** Credits by which open holds grow, by request id. */
  covers: Map<string, number>;
}

/**
 * Decides holds and covers in the order of their arrival. One that does not fit is refused and
 * does not stand in the way of smaller ones behind it.
 */
export function admitAsks(
  accounts: AccountStates,
  asks: readonly Ask[],
  openHolds: ReadonlySet<string>,
): AdmittedAsks {
  const admitted: AdmittedAsks = { holds: [], covers: new Map() };
  for (const ask of asks) {
    if (ask.kind === 'hold') {
      if (accounts.open(ask.tenantId, ask.operation.amount)) {
        ask.outcome = { admitted: true };
        admitted.holds.push(ask);
      } else {
        ask.outcome = { admitted: false, available: accounts.available(ask.tenantId) };
      }
    } else {
      // A hold that is gone was released by a sweeper that took this process for dead.
      ask.outcome = openHolds.has(ask.requestId) && accounts.open(ask.tenantId, ask.additional);
      if (ask.outcome) {
        const before = admitted.covers.get(ask.requestId) ?? 0;
        admitted.covers.set(ask.requestId, before + ask.additional);
      }
    }
  }
  return admitted;
}
