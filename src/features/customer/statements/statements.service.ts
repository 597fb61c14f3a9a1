import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import { toCsv } from '../../../platform/http/csv.js';
import { utcMonthOf, type UtcMonth } from '../../../platform/time/dates.js';
import { readDimensions } from '../../../core/request-log/log-dimensions.js';
import { toGroupList, type LogGroupListDto } from '../../../core/request-log/log-groups.dto.js';
import { GROUP_LIMIT, readLogFilters } from '../../../core/request-log/log-query.dto.js';
import { RequestLogGroupsReader } from '../../../core/request-log/request-log-groups.reader.js';
import { StatementReader, type StatementEntry } from '../../../core/ledger/statement.reader.js';
import type {
  StatementDto,
  StatementEntryDto,
  StatementMonthListDto,
  StatementQueryDto,
} from './statements.dto.js';

const BATCH_SIZE = 200;

const DEFAULT_GROUPING = 'model';

/** Streams statements, so that memory does not grow with the month. */
@Injectable()
export class StatementsService {
  constructor(
    private readonly statements: StatementReader,
    private readonly groups: RequestLogGroupsReader,
  ) {}

  async months({ tenantId }: Caller): Promise<StatementMonthListDto> {
    return { data: await this.statements.monthsOf(tenantId) };
  }

  /**
   * Yields a `StatementDto` as JSON.
   * @throws InvalidRequestError for a malformed month, dimension or filter
   */
  async *json(caller: Caller, month: string, query: StatementQueryDto): AsyncGenerator<string> {
    const span = readMonth(month);
    const requests = await this.requestsOf(caller, span, query);
    const summary = await this.statements.summaryOf(caller.tenantId, span);
    const head: Omit<StatementDto, 'entries'> = {
      month,
      opening_balance: summary.openingBalance,
      closing_balance: summary.closingBalance,
      totals: { ...summary.totals, net: summary.closingBalance - summary.openingBalance },
    };
    if (requests) {
      yield JSON.stringify({ ...head, entries: [], requests });
      return;
    }
    yield `${JSON.stringify(head).slice(0, -1)},"entries":[`;
    let separator = '';
    const batches = this.statements.entriesOf(caller.tenantId, span, summary, BATCH_SIZE);
    for await (const batch of batches) {
      yield separator + batch.map((entry) => JSON.stringify(toEntry(entry))).join(',');
      separator = ',';
    }
    yield ']}';
  }

  /** Yields the entries or groups as CSV. @throws InvalidRequestError like `json` */
  async *csv(caller: Caller, month: string, query: StatementQueryDto): AsyncGenerator<string> {
    const span = readMonth(month);
    const requests = await this.requestsOf(caller, span, query);
    if (requests) {
      yield groupsCsv(requests);
      return;
    }
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

  /** Returns undefined when no request sums are requested. */
  private async requestsOf(
    { tenantId }: Caller,
    range: UtcMonth,
    { group_by: groupBy, ...query }: StatementQueryDto,
  ): Promise<LogGroupListDto | undefined> {
    const filters = readLogFilters(query);
    const isFiltered = Object.values(filters).some((value) => value !== undefined);
    if (groupBy === undefined && !isFiltered) return undefined;
    const dimensions = readDimensions(groupBy ?? DEFAULT_GROUPING);
    const limit = GROUP_LIMIT.maximum;
    const found = await this.groups.groups({ tenantId, dimensions, filters, range, limit });
    return toGroupList(dimensions, found);
  }
}

function groupsCsv({ group_by: groupBy, data }: LogGroupListDto): string {
  const sums = ['requests', 'errors', 'tokens_prompt', 'tokens_completion', 'cost', 'is_rest'];
  const rows = data.map((group) => [
    ...Object.values(group.groups),
    group.requests,
    group.errors,
    group.tokens.prompt,
    group.tokens.completion,
    group.cost,
    String(group.is_rest),
  ]);
  return toCsv([[...groupBy.split(','), ...sums], ...rows]);
}

function readMonth(text: string): UtcMonth {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)) {
    throw new InvalidRequestError('month', 'The month must be written like 2026-01.');
  }
  return utcMonthOf(new Date(`${text}-01T00:00:00Z`));
}

export function toEntry(entry: StatementEntry): StatementEntryDto {
  return {
    id: entry.id,
    created_at: entry.createdAt.toISOString(),
    kind: entry.kind,
    amount: entry.amount,
    request_id: entry.requestId,
  };
}
