import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { StatementReader, type NewestEntry } from '../../../core/ledger/statement.reader.js';
import { readCursor, toCursorPage } from '../../../platform/http/cursor-page.js';
import { toCsv } from '../../../platform/http/csv.js';
import { utcMonthOf } from '../../../platform/time/dates.js';
import { toEntry } from '../statements/statements.service.js';
import type {
  LedgerEntryFilterDto,
  LedgerEntryQueryDto,
  TenantLedgerEntryDto,
  TenantLedgerEntryListDto,
} from './ledger-entries.dto.js';

/** Entries per export query. */
const BATCH_SIZE = 200;

type Entry = NewestEntry & Pick<TenantLedgerEntryDto, 'balance_after'>;

/** Lists a tenant's ledger entries, newest first. */
@Injectable()
export class LedgerEntriesService {
  constructor(private readonly statements: StatementReader) {}

  async list(
    { tenantId }: Caller,
    { limit, cursor, ...filter }: LedgerEntryQueryDto,
  ): Promise<TenantLedgerEntryListDto> {
    const balance = filter.kind === undefined ? 'integer' : 'text';
    const place = readCursor(cursor, ['time', 'integer', balance]);
    const rows = await this.read(tenantId, filter, place, limit + 1);
    return toCursorPage(rows, limit, placeBehind, (entry) => ({
      ...toEntry(entry),
      balance_after: entry.balance_after,
    }));
  }

  /** Yields the list as CSV. */
  async *csv({ tenantId }: Caller, filter: LedgerEntryFilterDto): AsyncGenerator<string> {
    yield toCsv([['id', 'created_at', 'kind', 'amount', 'balance_after', 'request_id']]);
    let place: string[] | undefined;
    for (;;) {
      const rows = await this.read(tenantId, filter, place, BATCH_SIZE);
      yield toCsv(
        rows.map((entry) => {
          const { id, created_at, kind, amount, request_id } = toEntry(entry);
          return [id, created_at, kind, amount, entry.balance_after, request_id];
        }),
      );
      const last = rows.at(-1);
      if (!last || rows.length < BATCH_SIZE) return;
      place = placeBehind(last);
    }
  }

  /**
   * Computes balances from the page's starting balance, which the cursor carries. New entries
   * don't affect older ones.
   */
  private async read(
    tenantId: string,
    { kind, month }: LedgerEntryFilterDto,
    place: readonly string[] | undefined,
    limit: number,
  ): Promise<Entry[]> {
    const [at, id, balance] = place ?? [];
    const span = month === undefined ? undefined : utcMonthOf(new Date(`${month}-01T00:00:00Z`));
    // For the current month, ignores entries newer than the summary.
    const summary = span && !place ? await this.statements.summaryOf(tenantId, span) : undefined;
    const rows = await this.statements.newestOf(tenantId, {
      limit,
      kind,
      month: span,
      lastId: summary?.lastId,
      ...(at !== undefined && id !== undefined && { before: { at, id } }),
    });
    if (kind !== undefined) return rows.map((row) => ({ ...row, balance_after: null }));
    let next = place ? Number(balance) : (summary?.closingBalance ?? rows[0]?.balance ?? 0);
    return rows.map((row) => {
      const entry = { ...row, balance_after: next };
      next -= row.amount;
      return entry;
    });
  }
}

/** Adds the balance before the entry, which is the one after the next. */
function placeBehind({ at, id, amount, balance_after: after }: Entry): string[] {
  return [at, id, after === null ? '' : String(after - amount)];
}
