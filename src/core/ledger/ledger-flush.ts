import type { PoolClient, QueryConfig } from 'pg';
import { toStoredText } from '../../platform/database/stored-text.js';
import { AccountStates } from './account-states.js';
import { admitRequests, type AdmittedRequests } from './admit-requests.js';
import { COUNT_USE, OPEN_LIMIT_HOLDS, type UseRow } from './budget-statements.js';
import { provesRollback } from './database-failure.js';
import {
  snapshotsOf,
  recordStatements,
  type Reservation,
  type LedgerGroup,
  type SettleEntry,
} from './ledger-entry.js';
import * as statements from './ledger-statements.js';
import { toHoldRow, type LogRow } from './ledger-rows.js';
import { markSnapshotsStored } from './receipts/price-snapshot.js';
import { settleGroup, type LoggedRequest } from './settle-group.js';
import {
  SpendLimits,
  OPEN_KEY_HOLDS,
  READ_SPEND_LIMITS,
  type SpendLimitRow,
} from './spend-limits.js';
import { runInOrder } from './statement-runner.js';

/** State that a flush reads under its locks. */
interface Locked {
  accounts: AccountStates;
  /** Credits of the ended holds, by request id. */
  endedHolds: Map<string, number>;
  openHolds: Set<string>;
  logged: Map<string, LoggedRequest>;
}

/**
 * Executes a group in one transaction and sets the outcome of each entry, without resolving it.
 * Settlements precede holds, which can then use the credits they release. When it throws, the
 * transaction is over or the connection unusable, and entries that may have been committed are marked.
 */
export async function flushGroup(
  client: PoolClient,
  instanceId: string,
  group: LedgerGroup,
): Promise<void> {
  const settlements = group.endings.filter((ending) => ending.kind === 'settle');
  const locked = await lockAccounts(client, group, settlements);
  await inspect(client, group, settlements, locked);

  const rows = settleGroup(locked.accounts, settlements, locked.endedHolds, locked.logged);
  const limits = await readSpendLimits(client, group.reservations, locked.accounts);
  const admitted = admitRequests(locked.accounts, group.reservations, locked.openHolds, limits);
  const settled = locked.accounts.settledAccounts();

  const writes: QueryConfig[] = [];
  if (settled.length > 0) {
    writes.push({
      ...statements.SETTLE,
      values: [JSON.stringify(rows), JSON.stringify(settled)],
    });
  }
  const written = settlements.filter(({ outcome }) => outcome?.applied);
  const snapshots = snapshotsOf(client, written);
  writes.push(...recordStatements(written, snapshots));
  writes.push(...openHolds(instanceId, admitted, locked.accounts));
  writes.push(...openLimitHolds(admitted, limits), statements.COMMIT);
  try {
    const results = await runInOrder<statements.SettleRow>(client, writes);
    markSnapshotsStored(client, snapshots);
    if (settled.length > 0) {
      markUnwritten(settlements, rows, results[0]!.rows);
    }
  } catch (error) {
    if (!provesRollback(error)) {
      for (const entry of [...group.endings, ...group.reservations]) entry.maybeCommitted = true;
    }
    throw error;
  }
}

/** Begins the transaction, locks the accounts and ends the holds of the settlements. */
async function lockAccounts(
  client: PoolClient,
  group: LedgerGroup,
  settlements: readonly SettleEntry[],
): Promise<Locked> {
  const locked: Locked = {
    accounts: new AccountStates(),
    endedHolds: new Map(),
    openHolds: new Set(),
    logged: new Map(),
  };
  const { accounts, endedHolds } = locked;
  const tenantIds = new Set<string>();
  for (const entry of group.endings) tenantIds.add(entry.tenantId);
  for (const entry of group.reservations) tenantIds.add(entry.tenantId);
  const holdIds = settlements.filter(({ hadHold }) => hadHold).map(({ requestId }) => requestId);

  const read = (rows: statements.LockRow[]) => {
    for (const row of rows) {
      if (row.request_id === null) accounts.add(row.tenant_id, row.balance, row.held);
    }
    for (const row of rows) {
      if (row.request_id === null) continue;
      accounts.end(row.tenant_id, row.held);
      endedHolds.set(row.request_id, row.held);
    }
  };
  const [, first] = await runInOrder<statements.LockRow>(client, [
    statements.BEGIN,
    { ...statements.LOCK, values: [[...tenantIds], holdIds] },
  ]);
  read(first!.rows);

  const without = [...tenantIds].filter((tenantId) => !accounts.has(tenantId));
  if (without.length > 0) {
    // Locks out of id order, so it may deadlock, which is retried. Unknown tenants still have no
    // account and no credits.
    const [, second] = await runInOrder<statements.LockRow>(client, [
      { ...statements.OPEN_ACCOUNTS, values: [without] },
      { ...statements.LOCK, values: [without, []] },
    ]);
    read(second!.rows);
  }
  return locked;
}

/** Reads the uncommon cases: covers, releases, and settlements without a hold. */
async function inspect(
  client: PoolClient,
  group: LedgerGroup,
  settlements: readonly SettleEntry[],
  { accounts, endedHolds, openHolds, logged }: Locked,
): Promise<void> {
  const covered: string[] = [];
  const released: string[] = [];
  for (const entry of group.endings) {
    if (entry.kind === 'release') released.push(entry.requestId);
  }
  for (const reservation of group.reservations) {
    if (reservation.kind === 'cover') covered.push(reservation.requestId);
    // It may have been committed by an earlier attempt, and starts over.
    else if (reservation.maybeCommitted) released.push(reservation.requestId);
  }
  const orphaned = settlements
    .filter(({ hadHold, requestId }) => hadHold && !endedHolds.has(requestId))
    .map(({ requestId }) => requestId);
  if (covered.length + released.length + orphaned.length === 0) return;

  const tenantIds = new Set(
    [...group.endings, ...group.reservations].map(({ tenantId }) => tenantId),
  );
  const [result] = await runInOrder<statements.InspectRow>(client, [
    {
      ...statements.INSPECT,
      values: [[...released, ...orphaned], covered, orphaned, [...tenantIds]],
    },
  ]);
  for (const row of result!.rows) {
    switch (row.found) {
      case 'ended':
        accounts.end(row.tenant_id, row.credits);
        endedHolds.set(row.request_id, row.credits);
        break;
      case 'open':
        openHolds.add(row.request_id);
        break;
      case 'logged':
        logged.set(row.request_id, {
          outcome: row.outcome,
          cost: row.credits,
          shortfall: row.shortfall,
        });
    }
  }
}

/** Returns undefined when no entry is limited. Limited entries must form a separate group. */
async function readSpendLimits(
  client: PoolClient,
  reservations: readonly Reservation[],
  accounts: AccountStates,
): Promise<SpendLimits | undefined> {
  const monthly = reservations.filter(({ spendLimited }) => spendLimited);
  const lines = linesOf(reservations);
  if (monthly.length + lines.length === 0) return undefined;
  const reads: QueryConfig[] = [];
  if (monthly.length > 0) {
    const keyIds = new Set(monthly.map(({ apiKeyId }) => apiKeyId));
    const tenantIds = new Set(monthly.map(({ tenantId }) => tenantId));
    reads.push({ ...READ_SPEND_LIMITS, values: [[...keyIds], [...tenantIds]] });
  }
  if (lines.length > 0) {
    const subjects = new Map(
      lines.map(([tenantId, scope, id]) => [`${tenantId} ${scope} ${id}`, [tenantId, scope, id]]),
    );
    reads.push({ ...COUNT_USE, values: columnsOf([...subjects.values()], 3) });
  }
  const results = await runInOrder<SpendLimitRow | UseRow>(client, reads);
  const rows = results.flatMap((result) => result.rows);
  return new SpendLimits(
    rows.filter((row) => 'spend_limit' in row),
    accounts,
    rows.filter((row) => 'held' in row),
  );
}

/** Returns tenant, scope, subject and request of each limit that the entries count toward. */
function linesOf(reservations: readonly Reservation[]): [string, string, string, string][] {
  return reservations.flatMap(({ tenantId, requestId, subjects = [] }) =>
    subjects.map(({ scope, id }): [string, string, string, string] => [
      tenantId,
      scope,
      toStoredText(id),
      requestId,
    ]),
  );
}

function columnsOf(rows: readonly (readonly string[])[], width: number): string[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column]!));
}

/** Returns the statements that record which admitted holds count toward which limits. */
function openLimitHolds(
  { holds }: AdmittedRequests,
  limits: SpendLimits | undefined,
): QueryConfig[] {
  if (!limits) return [];
  const lines = linesOf(holds);
  const opened = lines.length > 0 ? [{ ...OPEN_LIMIT_HOLDS, values: columnsOf(lines, 4) }] : [];
  const counted = holds.flatMap(({ apiKeyId, requestId }) =>
    limits.limitedKeysOf(apiKeyId).map((keyId) => ({ keyId, requestId })),
  );
  if (counted.length === 0) return opened;
  const values = [counted.map(({ keyId }) => keyId), counted.map(({ requestId }) => requestId)];
  return [...opened, { ...OPEN_KEY_HOLDS, values }];
}

/** Returns the statements that open and enlarge the admitted holds. */
function openHolds(
  instanceId: string,
  admitted: AdmittedRequests,
  accounts: AccountStates,
): QueryConfig[] {
  if (admitted.holds.length + admitted.covers.size === 0) return [];
  const opened: QueryConfig[] = [
    {
      ...statements.OPEN_HOLDS,
      values: [
        JSON.stringify(admitted.holds.map(toHoldRow)),
        instanceId,
        JSON.stringify(accounts.openedAccounts()),
      ],
    },
  ];
  if (admitted.covers.size > 0) {
    const covers = [...admitted.covers].map(([request_id, credits]) => ({ request_id, credits }));
    opened.push({ ...statements.ENLARGE_HOLDS, values: [JSON.stringify(covers)] });
  }
  return opened;
}

/** Marks settlements whose row existed, although a hold was found or never needed. */
function markUnwritten(
  settlements: readonly SettleEntry[],
  rows: readonly LogRow[],
  writtenRows: readonly statements.SettleRow[],
): void {
  if (writtenRows.length === rows.length) return;
  const written = new Set(writtenRows.map((row) => row.request_id));
  for (const entry of settlements) {
    if (entry.outcome?.applied && !entry.maybeCommitted && !written.has(entry.requestId)) {
      entry.outcome = { cost: 0, shortfall: 0, applied: false };
    }
  }
}
