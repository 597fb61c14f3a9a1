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

/** Entries that an export reads at once. */
const BATCH_SIZE = 200;

type Entry = NewestEntry & Pick<TenantLedgerEntryDto, 'balance_after'>;

/** What moved a tenant's balance, the newest first. */
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

  /** The list as CSV, piece by piece. */
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
   * The balance comes with the page, and goes on from page to page in their places: what is written
   * meanwhile is newer, and older entries do not change.
   */
  private async read(
    tenantId: string,
    { kind, month }: LedgerEntryFilterDto,
    place: readonly string[] | undefined,
    limit: number,
  ): Promise<Entry[]> {
    const [at, id, balance] = place ?? [];
    const span = month === undefined ? undefined : utcMonthOf(new Date(`${month}-01T00:00:00Z`));
    // Of a month that goes on, no more than the sum below was made of.
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

/** With the balance before the entry, which is the one behind the next. */
function placeBehind({ at, id, amount, balance_after: after }: Entry): string[] {
  return [at, id, after === null ? '' : String(after - amount)];
}
