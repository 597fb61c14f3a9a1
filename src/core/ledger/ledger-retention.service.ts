import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import {
  type MonthPartition,
  monthsEndedBy,
  withShortLocks,
} from '../../platform/database/month-partitions.js';
import { utcMonthOf } from '../../platform/time/dates.js';
import { Retention } from '../../platform/time/retention.js';

/**
 * Drops ledger months older than the retention period and carries their sums forward as one entry per
 * account, kind and month. Balances stay the sum of their entries and statements stay the same
 * (docs/decisions/0042). A month is dropped only after its log rows. Entries older than monthly
 * partitioning stay.
 */
@Injectable()
export class LedgerRetentionService extends Retention {
  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'ledgerRetentionDays'>,
  ) {
    super('the ledger', () => config.ledgerRetentionDays);
  }

  /** Returns the number of dropped entries. */
  protected async sweepBefore(instant: Date): Promise<number> {
    const { start } = utcMonthOf(instant);
    const months = await monthsEndedBy(this.database, 'ledger_entries', start);
    return this.inBatches(async () => {
      const month = months.shift();
      return month && ((await this.carryForward(month, start)) ?? 0);
    });
  }

  private carryForward({ name, month }: MonthPartition, before: Date): Promise<number | undefined> {
    return withShortLocks(this.database, async (client) => {
      // Blocks writers of the month; reads continue until it is dropped.
      await client.query(`LOCK TABLE ${name} IN SHARE ROW EXCLUSIVE MODE`);
      const { rows } = await client.query<{ is_over: boolean }>(
        `SELECT to_regclass($1) IS NULL
           AND NOT EXISTS (
             SELECT FROM archived_request_logs WHERE month = to_date($3, 'YYYY_MM')
           )
           AND NOT EXISTS (SELECT FROM ${name} WHERE created_at >= $2) AS is_over`,
        [`request_logs_${month}`, before, month],
      );
      if (!rows[0]!.is_over) return 0;
      const { rows: sums } = await client.query<{ entries: number }>(carrySums(name));
      await client.query(`DROP TABLE ${name}`);
      return sums[0]!.entries;
    });
  }
}

/** Dated at the end of their month, so that a statement up to the month's last entry includes them. */
const carrySums = (partition: string): string => `
  WITH sums AS (
    SELECT tenant_id, kind, date_trunc('month', created_at, 'UTC') AS month,
      sum(amount)::bigint AS amount, count(*) AS entries
    FROM ${partition} GROUP BY 1, 2, 3
  ), carried AS (
    INSERT INTO ledger_entries (tenant_id, kind, amount, created_at)
    SELECT tenant_id, kind, amount,
      (month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' - interval '1 microsecond'
    FROM sums
  )
  SELECT coalesce(sum(entries), 0)::bigint AS entries FROM sums`;
