import pg, { type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { classifyFailure, provesRollback } from './database-failure.js';
import {
  snapshotsOf,
  recordStatements,
  type HoldEntry,
  type LedgerGroup,
  type SettleEntry,
} from './ledger-entry.js';
import { BEGIN, COMMIT } from './ledger-statements.js';
import { toLogRow, toHoldRow, toRangeRow, type LogRow } from './ledger-rows.js';
import { totalOf } from './pricing.js';
import * as quick from './quick-statements.js';
import { markSnapshotsStored, type PriceSnapshot } from './receipts/price-snapshot.js';
import { runInOrder } from './statement-runner.js';

/** A group of new settlements and holds only. */
interface OrdinaryGroup {
  settlements: readonly SettleEntry[];
  holds: readonly HoldEntry[];
  /** True when any hold has a range. */
  hasRanges: boolean;
}

/**
 * Executes a group in one round trip, assuming that every ended hold exists and every requested one
 * fits. PostgreSQL checks the assumption and does nothing when it is wrong.
 *
 * @returns false when nothing was done and the group needs `flushGroup`
 */
export async function quickFlush(
  client: PoolClient,
  instanceId: string,
  group: LedgerGroup,
): Promise<boolean> {
  const ordinary = toOrdinary(group);
  if (!ordinary) return false;
  const snapshots = snapshotsOf(client, ordinary.settlements);
  let results: QueryResult<Partial<quick.GrantsRow>>[];
  try {
    results = await runInOrder<Partial<quick.GrantsRow>>(
      client,
      toStatements(instanceId, ordinary, snapshots),
    );
    markSnapshotsStored(client, snapshots);
  } catch (error) {
    // The full transaction would only wait for the lock again.
    if (classifyFailure(error) === 'locked') throw error;
    // A wrong assumption or a bad value costs one round trip; the full transaction finds out which.
    if (error instanceof pg.DatabaseError && provesRollback(error)) return false;
    for (const entry of [...group.endings, ...group.reservations]) entry.maybeCommitted = true;
    throw error;
  }
  for (const entry of ordinary.settlements) {
    entry.outcome = { cost: totalOf(entry.charge), shortfall: 0, applied: true };
  }
  const grants = ordinary.hasRanges ? grantsOf(results) : [];
  for (const [index, entry] of ordinary.holds.entries()) {
    const { range } = entry.operation;
    if (range) entry.granted = grants[index]!;
    entry.outcome = { admitted: true, ...(range && { granted: entry.granted! }) };
  }
  return true;
}

function toOrdinary({ endings, reservations }: LedgerGroup): OrdinaryGroup | undefined {
  const settlements: SettleEntry[] = [];
  const holds: HoldEntry[] = [];
  for (const entry of endings) {
    if (entry.kind !== 'settle' || entry.maybeCommitted) return undefined;
    const { maxCost } = entry.log;
    if (maxCost !== undefined && totalOf(entry.charge) > maxCost) return undefined;
    settlements.push(entry);
  }
  for (const entry of reservations) {
    if (entry.kind !== 'hold' || entry.maybeCommitted || entry.isLimited) return undefined;
    holds.push(entry);
  }
  return { settlements, holds, hasRanges: holds.some(({ operation }) => operation.range) };
}

/** Returns the credits that the statement reserved for each hold, in order. */
function grantsOf(results: readonly QueryResult<Partial<quick.GrantsRow>>[]): readonly number[] {
  for (const {
    rows: [row],
  } of results) {
    if (row?.granted) return row.granted;
  }
  return [];
}

/** A single statement is its own transaction; several need BEGIN and COMMIT. */
function toStatements(
  instanceId: string,
  ordinary: OrdinaryGroup,
  snapshots: readonly PriceSnapshot[],
): QueryConfig[] {
  const statement = toStatement(instanceId, ordinary);
  const beside = recordStatements(ordinary.settlements, snapshots);
  if (beside.length === 0) return [statement];
  return [BEGIN, statement, ...beside, COMMIT];
}

function toStatement(
  instanceId: string,
  { settlements, holds, hasRanges }: OrdinaryGroup,
): QueryConfig {
  const [settlement, anotherSettlement] = settlements;
  const [hold, anotherHold] = holds;
  if (settlement?.hadHold && !anotherSettlement && !hold) return settleOne(settlement);
  if (hold && !anotherHold && !settlement) return holdOne(instanceId, hold);
  const heldByTenant = new Map<string, number>();
  for (const { tenantId } of settlements) heldByTenant.set(tenantId, 0);
  for (const { tenantId, operation } of holds) {
    heldByTenant.set(
      tenantId,
      (heldByTenant.get(tenantId) ?? 0) + (hasRanges ? 0 : operation.amount),
    );
  }
  const accounts = JSON.stringify(
    Array.from(heldByTenant, ([tenant_id, credits]) => ({ tenant_id, credits })),
  );
  const opening = [JSON.stringify(holds.map(hasRanges ? toRangeRow : toHoldRow)), instanceId];
  if (settlements.length === 0) {
    const statement = hasRanges ? quick.QUICK_RANGES : quick.QUICK_HOLD;
    return fill(statement, [accounts, ...opening]);
  }
  const ended = settlements.filter(({ hadHold }) => hadHold).map(({ requestId }) => requestId);
  const settling = [accounts, ended, JSON.stringify(settlements.map(toRow))];
  if (holds.length === 0) return fill(quick.QUICK_SETTLE, settling);
  const both = hasRanges ? quick.QUICK_SETTLE_AND_RANGES : quick.QUICK_SETTLE_AND_HOLD;
  return fill(both, [...settling, ...opening]);
}

function holdOne(instanceId: string, entry: HoldEntry): QueryConfig {
  const row = toRangeRow(entry, 0);
  return fill(quick.QUICK_HOLD_ONE, [
    row.tenant_id,
    row.request_id,
    row.amount,
    row.most,
    row.base,
    instanceId,
    row.api_key_id,
    row.endpoint,
    row.model,
    row.provider,
    row.streamed,
    row.created_at.toISOString(),
  ]);
}

function settleOne(entry: SettleEntry): QueryConfig {
  const row = toRow(entry);
  return fill(quick.QUICK_SETTLE_ONE, [
    JSON.stringify(row),
    row.request_id,
    row.tenant_id,
    totalOf(entry.charge),
    row.api_key_id,
    row.created_at.toISOString(),
  ]);
}

function toRow({ log, charge }: SettleEntry): LogRow {
  return toLogRow(log, { charge, cost: totalOf(charge), shortfall: 0 });
}

function fill({ name, text }: QueryConfig, values: unknown[]): QueryConfig {
  return { name, text, values };
}
