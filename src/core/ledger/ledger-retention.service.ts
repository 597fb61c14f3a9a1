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
 * Drops months of the ledger that are older than the setting says, with their sums carried forward:
 * one entry for each account, kind and month, without a request. So every balance stays the sum of
 * its entries and every statement says what it said (docs/decisions/0042). A month goes only after
 * its log rows. Entries of before there were months stay.
 */
@Injectable()
export class LedgerRetentionService extends Retention {
  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'ledgerRetentionDays'>,
  ) {
    super('the ledger', () => config.ledgerRetentionDays);
  }

  /** Counts entries. */
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
      // From here on nobody adds to the month; reading it is free until it goes.
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

/**
 * At the last instant of their month, so that a statement which ends with the month's last entry has
 * all of them.
 */
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
