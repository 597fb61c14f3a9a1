import type { AccountStates } from './account-states.js';
import type { SettleEntry } from './ledger-entry.js';
import { toLogRow, type LogRow } from './ledger-rows.js';
import { totalOf, splitCharge, type PayableCharge } from './pricing.js';
import type { Charge } from './ledger-operations.js';

/** A log row that existed before this transaction. */
export interface LoggedRequest {
  outcome: string;
  cost: number;
  shortfall: number;
}

function maxCostOf({ log: { maxCost = Infinity } }: SettleEntry): number {
  return maxCost;
}

/**
 * Decides the charge of each settlement, after their holds were released, and returns the log rows to
 * write. Leaves a request alone that already has a row, unless it is a sweeper's `crashed` row.
 *
 * Charges within their holds go first, so that what they leave is available to the others before any
 * shortfall.
 */
export function settleGroup(
  accounts: AccountStates,
  entries: readonly SettleEntry[],
  endedHolds: ReadonlyMap<string, number>,
  logged: ReadonlyMap<string, LoggedRequest>,
): LogRow[] {
  const rows: LogRow[] = [];
  const settled = new Map<string, SettleEntry>();
  const overrunning: SettleEntry[] = [];

  const settle = (entry: SettleEntry) => {
    const first = settled.get(entry.requestId);
    const before = logged.get(entry.requestId);
    if (first) {
      entry.outcome = { ...first.outcome!, applied: false };
    } else if (before && before.outcome !== 'crashed') {
      // A row of this entry itself when its first commit was uncertain.
      const { cost, shortfall } = before;
      entry.outcome = { cost, shortfall, applied: entry.maybeCommitted };
    } else {
      const payable = takeCharge(accounts, entry.tenantId, entry.charge, maxCostOf(entry));
      entry.outcome = { cost: payable.cost, shortfall: payable.shortfall, applied: true };
      settled.set(entry.requestId, entry);
      rows.push(toLogRow(entry.log, payable));
    }
  };

  for (const entry of entries) {
    const hold = endedHolds.get(entry.requestId) ?? 0;
    if (Math.min(totalOf(entry.charge), maxCostOf(entry)) > hold) overrunning.push(entry);
    else settle(entry);
  }
  for (const entry of overrunning) settle(entry);
  return rows;
}

/**
 * Takes a charge from its account, as far as credits are available.
 *
 * @param maxCost the caller's limit, in credits
 */
export function takeCharge(
  accounts: AccountStates,
  tenantId: string,
  charge: Charge,
  maxCost = Infinity,
): PayableCharge {
  const payable = splitCharge(charge, Math.min(accounts.available(tenantId), maxCost));
  accounts.charge(tenantId, payable.cost);
  return payable;
}
