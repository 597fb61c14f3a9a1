import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import { toCsv } from '../../../platform/http/csv.js';
import { utcMonthOf, type UtcMonth } from '../../../platform/time/dates.js';
import { StatementReader, type StatementEntry } from '../../../core/ledger/statement.reader.js';
import type { StatementDto, StatementEntryDto } from './statements.dto.js';

const BATCH_SIZE = 1_000;

/** Writes statements piece by piece, so that a large month takes no more memory than a small one. */
@Injectable()
export class StatementsService {
  constructor(private readonly statements: StatementReader) {}

  /** A `StatementDto` as JSON. @throws InvalidRequestError unless `month` is one as `2026-01` */
  async *json(caller: Caller, month: string): AsyncGenerator<string> {
    const span = readMonth(month);
    const summary = await this.statements.summaryOf(caller.tenantId, span);
    const head: Omit<StatementDto, 'entries'> = {
      month,
      opening_balance: summary.openingBalance,
      closing_balance: summary.closingBalance,
      totals: { ...summary.totals, net: summary.closingBalance - summary.openingBalance },
    };
    yield `${JSON.stringify(head).slice(0, -1)},"entries":[`;
    let separator = '';
    const batches = this.statements.entriesOf(caller.tenantId, span, summary, BATCH_SIZE);
    for await (const batch of batches) {
      yield separator + batch.map((entry) => JSON.stringify(toEntry(entry))).join(',');
      separator = ',';
    }
    yield ']}';
  }

  /** The entries as CSV. @throws InvalidRequestError unless `month` is one as `2026-01` */
  async *csv(caller: Caller, month: string): AsyncGenerator<string> {
    const span = readMonth(month);
    const summary = await this.statements.summaryOf(caller.tenantId, span);
    yield toCsv([['id', 'created_at', 'kind', 'amount', 'request_id']]);
    const batches = this.statements.entriesOf(caller.tenantId, span, summary, BATCH_SIZE);
    for await (const batch of batches) {
      yield toCsv(
        batch
          .map(toEntry)
          .map((entry) => [entry.id, entry.created_at, entry.kind, entry.amount, entry.request_id]),
      );
    }
  }
}

function readMonth(text: string): UtcMonth {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)) {
    throw new InvalidRequestError('month', 'The month must be written as 2026-01.');
  }
  return utcMonthOf(new Date(`${text}-01T00:00:00Z`));
}

function toEntry(entry: StatementEntry): StatementEntryDto {
  return {
    id: entry.id,
    created_at: entry.createdAt.toISOString(),
    kind: entry.kind,
    amount: entry.amount,
    request_id: entry.requestId,
  };
}
