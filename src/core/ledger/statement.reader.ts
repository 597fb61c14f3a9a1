import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { Database } from '../../platform/database/database.js';
import { fromStoredText } from '../../platform/database/stored-text.js';
import type { UtcMonth } from '../../platform/time/dates.js';

/** A change of a tenant's balance; the amount is signed credits. */
export interface StatementEntry {
  id: string;
  createdAt: Date;
  kind: LedgerEntryKind;
  amount: number;
  requestId: string | null;
}

export const LEDGER_ENTRY_KINDS = ['grant', 'correction', 'charge', 'shortfall', 'refund'] as const;
export type LedgerEntryKind = (typeof LEDGER_ENTRY_KINDS)[number];

/** An entry as operators see it. */
export interface MemoEntry extends StatementEntry {
  /** The operator's note; null for entries of requests. */
  memo: string | null;
}

/** Position of an entry in a list. The time is ISO 8601, to the microsecond. */
export interface EntryPlace {
  at: string;
  id: string;
}

/** Filters and page of `StatementReader.newestOf`. */
interface NewestEntries {
  before?: EntryPlace;
  kind?: LedgerEntryKind | undefined;
  month?: UtcMonth | undefined;
  lastId?: number | undefined;
  limit: number;
}

/** An entry with the tenant's balance at the time of reading. */
export interface NewestEntry extends MemoEntry, EntryPlace {
  balance: number;
}

/** A calendar month's effect on a tenant's balance. */
export interface StatementSummary {
  openingBalance: number;
  closingBalance: number;
  /** Signed sums: `closingBalance` is `openingBalance` plus all of them. */
  totals: Record<LedgerEntryKind, number>;
  /** The month's last entry at the time of the summary; 0: none. */
  lastId: number;
}

interface SumsRow extends Record<Exclude<LedgerEntryKind, 'charge'>, number> {
  spent_before: number;
  /** Charges less shortfalls and refunds, as a positive sum. */
  spent: number;
  granted_before: number;
  last_id: number;
}

/** The pool has ten connections, and downloads of a month's entries take long. */
const MAX_CONNECTIONS = 2;

/** Reads the ledger month by month; every method is limited to one tenant. */
@Injectable()
export class StatementReader {
  private readonly limit = pLimit(MAX_CONNECTIONS);

  constructor(private readonly database: Database) {}

  /**
   * Sums up a month without reading its charges: their total is the month's spend, which is updated in
   * the same transactions. The other entries are few and indexed.
   */
  async summaryOf(tenantId: string, month: UtcMonth): Promise<StatementSummary> {
    const { rows } = await this.limit(() =>
      this.database.query<SumsRow>(
        `SELECT months.*, rare.*, coalesce(last.id, 0) AS last_id
         FROM (
           SELECT coalesce(sum(spent) FILTER (WHERE month < $4), 0)::bigint AS spent_before,
             coalesce(sum(spent) FILTER (WHERE month = $4), 0)::bigint AS spent
           FROM account_months WHERE tenant_id = $1 AND month <= $4
         ) AS months, (
           SELECT coalesce(
               sum(amount) FILTER (WHERE created_at < $2 AND kind IN ('grant', 'correction')), 0
             )::bigint AS granted_before,
             ${sumOf('grant')}, ${sumOf('correction')}, ${sumOf('shortfall')}, ${sumOf('refund')}
           FROM ledger_entries
           WHERE tenant_id = $1 AND kind <> 'charge' AND created_at < $3
         ) AS rare LEFT JOIN LATERAL (${LAST_ID}) AS last ON true`,
        [tenantId, month.start, month.end, month.start.toISOString().slice(0, 10)],
      ),
    );
    const row = rows[0]!;
    const { grant, correction, shortfall, refund, spent, last_id: lastId } = row;
    // The month's spend excludes shortfalls and refunds.
    const charge = -(spent + shortfall + refund);
    const openingBalance = row.granted_before - row.spent_before;
    return {
      openingBalance,
      closingBalance: openingBalance + grant + correction + charge + shortfall + refund,
      totals: { grant, correction, charge, shortfall, refund },
      lastId,
    };
  }

  /** Returns the credits spent in each month with requests, latest first. */
  async monthsOf(tenantId: string): Promise<{ month: string; spent: number; requests: number }[]> {
    const { rows } = await this.limit(() =>
      this.database.query<{ month: string; spent: number; requests: number }>(
        `SELECT to_char(month, 'YYYY-MM') AS month, spent, request_count AS requests
         FROM account_months WHERE tenant_id = $1 ORDER BY account_months.month DESC`,
        [tenantId],
      ),
    );
    return rows;
  }

  /**
   * Yields the entries of a summary, oldest first, in batches of `batchSize`. An account is locked
   * before an entry gets its id, so a tenant's entries up to an id never change. Holds no connection
   * between batches.
   */
  async *entriesOf(
    tenantId: string,
    month: UtcMonth,
    { lastId }: Pick<StatementSummary, 'lastId'>,
    batchSize: number,
  ): AsyncGenerator<StatementEntry[]> {
    // Times as text, because a Date would lose the microseconds that the order depends on.
    let after = { at: month.start.toISOString(), id: '0' };
    for (;;) {
      const { rows } = await this.limit(() =>
        this.database.query<StatementEntry & { at: string }>(
          `SELECT ledger_entries.id::text AS id, created_at AS "createdAt", kind, amount,
             request_id AS "requestId", created_at::text AS at
           FROM ledger_entries
           WHERE tenant_id = $1 AND (created_at, ledger_entries.id) > ($2::timestamptz, $3::bigint)
             AND created_at < $4 AND ledger_entries.id <= $5
           ORDER BY created_at, ledger_entries.id LIMIT $6`,
          [tenantId, after.at, after.id, month.end, lastId, batchSize],
        ),
      );
      const last = rows.at(-1);
      if (!last) return;
      after = { at: last.at, id: last.id };
      yield rows.map(({ at: _, ...entry }) => entry);
      if (rows.length < batchSize) return;
    }
  }

  /**
   * Returns the newest entries of a tenant, with the position for the next page.
   *
   * @param before undefined: the newest entries
   * @param kind undefined: all kinds; all but charges have their own index
   * @param month undefined: all months
   * @param lastId the latest entry to include; undefined: all
   */
  async newestOf(
    tenantId: string,
    { before, kind, month, lastId, limit }: NewestEntries,
  ): Promise<NewestEntry[]> {
    const conditions = [
      kind && `kind = '${kind}'`,
      month && `created_at >= $5 AND created_at < $6`,
      lastId !== undefined && `ledger_entries.id <= ${BigInt(lastId)}`,
    ].filter((each) => typeof each === 'string');
    const { rows } = await this.limit(() =>
      this.database.query<NewestEntry>(
        `SELECT ledger_entries.id::text AS id, created_at AS "createdAt", kind, amount,
           request_id AS "requestId", memo,
           (SELECT balance FROM accounts WHERE accounts.tenant_id = $1),
           to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
         FROM ledger_entries
         WHERE tenant_id = $1 AND (created_at, ledger_entries.id) < (
             coalesce($2::timestamptz, 'infinity'), coalesce($3::bigint, 0)
           ) ${conditions.map((each) => `AND ${each}`).join(' ')}
         ORDER BY created_at DESC, ledger_entries.id DESC LIMIT $4`,
        [tenantId, before?.at, before?.id, limit, ...(month ? [month.start, month.end] : [])],
      ),
    );
    return rows.map((row) => ({ ...row, memo: row.memo && fromStoredText(row.memo) }));
  }
}

/**
 * Selects the month's highest id. Ids follow the order of commits and times the order of transaction
 * starts, so it is among the last entries; no ledger transaction takes an hour.
 */
const LAST_ID = `
  SELECT max(id) AS id FROM ledger_entries
  WHERE tenant_id = $1 AND created_at >= $2 AND created_at < $3
    AND created_at >= (
      SELECT created_at FROM ledger_entries
      WHERE tenant_id = $1 AND created_at >= $2 AND created_at < $3
      ORDER BY created_at DESC LIMIT 1
    ) - interval '1 hour'`;

function sumOf(kind: LedgerEntryKind): string {
  return `coalesce(sum(amount) FILTER (WHERE kind = '${kind}' AND created_at >= $2), 0)::bigint AS "${kind}"`;
}
