import { Injectable } from '@nestjs/common';
import { toCsv, type CsvValue } from '../../platform/http/csv.js';
import { readCursor, toCursorPage } from '../../platform/http/cursor-page.js';
import {
  toAuditFilters,
  toAuditLogRow,
  type AdminAuditLogFilterDto,
  type AdminAuditLogQueryDto,
  type AuditLogListDto,
  type AuditLogRowDto,
} from './audit-log.dto.js';
import { AuditLogReader } from './audit-log.reader.js';

/** CSV columns: the fields of a row, nested ones by path. */
const COLUMNS: [string, (row: AuditLogRowDto) => CsvValue][] = [
  ['id', (row) => row.id],
  ['created_at', (row) => row.created_at],
  ['actor_kind', (row) => row.actor.kind],
  ['actor_id', (row) => row.actor.id],
  ['actor_name', (row) => row.actor.name],
  ['tenant_id', (row) => row.tenant_id],
  ['action', (row) => row.action],
  ['target_type', (row) => row.target.type],
  ['target_id', (row) => row.target.id],
  ['before', (row) => row.before && JSON.stringify(row.before)],
  ['after', (row) => row.after && JSON.stringify(row.after)],
  ['request_id', (row) => row.request_id],
];

/** Serves the audit log as lists and files, for one tenant or all. */
@Injectable()
export class AuditLogService {
  constructor(private readonly reader: AuditLogReader) {}

  /**
   * @throws InvalidRequestError on a malformed date or cursor
   */
  async list({ limit, cursor, ...query }: AdminAuditLogQueryDto): Promise<AuditLogListDto> {
    const [time, id] = readCursor(cursor, ['time', 'integer']) ?? [];
    const after = time === undefined || id === undefined ? undefined : ([time, id] as const);
    const rows = await this.reader.page(toAuditFilters(query), limit + 1, after);
    return toCursorPage(rows, limit, (row) => [row.createdAt, row.id], toAuditLogRow);
  }

  /**
   * Yields all matching rows as CSV with a header line.
   *
   * @throws InvalidRequestError on a malformed date
   */
  async *csv(query: AdminAuditLogFilterDto): AsyncGenerator<string> {
    const filters = toAuditFilters(query);
    yield toCsv([COLUMNS.map(([name]) => name)]);
    for await (const rows of this.reader.batches(filters)) {
      yield toCsv(rows.map(toAuditLogRow).map((row) => COLUMNS.map(([, read]) => read(row))));
    }
  }

  /** Yields all matching rows as JSON lines. */
  async *jsonl(query: AdminAuditLogFilterDto): AsyncGenerator<string> {
    for await (const rows of this.reader.batches(toAuditFilters(query))) {
      yield rows.map((row) => `${JSON.stringify(toAuditLogRow(row))}\n`).join('');
    }
  }
}
