import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { CSV_CONTENT_TYPE, toCsv, type CsvValue } from '../../platform/http/csv.js';
import { readCursor, toCursorPage } from '../../platform/http/cursor-page.js';
import { sendTextStream } from '../../platform/http/send-body.js';
import {
  toAuditFilters,
  toAuditLogRow,
  type AdminAuditLogFilterDto,
  type AdminAuditLogQueryDto,
  type AuditLogListDto,
  type AuditLogRowDto,
} from './audit-log.dto.js';
import { AuditLogReader, type AuditLogFilters } from './audit-log.reader.js';

/** Generators of clients know of no type for lines of JSON. */
export const JSONL_CONTENT_TYPE = 'text/plain; charset=utf-8';

/** The columns of the CSV: the row of the interface, its nested fields by their paths. */
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

/** The audit log as lists and files, of one tenant or of all. */
@Injectable()
export class AuditLogService {
  constructor(private readonly reader: AuditLogReader) {}

  /** @throws InvalidRequestError on a malformed date or cursor */
  async list({ limit, cursor, ...query }: AdminAuditLogQueryDto): Promise<AuditLogListDto> {
    const [time, id] = readCursor(cursor, ['time', 'integer']) ?? [];
    const after = time === undefined || id === undefined ? undefined : ([time, id] as const);
    const rows = await this.reader.page(toAuditFilters(query), limit + 1, after);
    return toCursorPage(rows, limit, (row) => [row.createdAt, row.id], toAuditLogRow);
  }

  /** Sends all rows that match, no faster than they are taken. @throws InvalidRequestError on a malformed date */
  export(
    response: Response,
    format: 'csv' | 'jsonl',
    query: AdminAuditLogFilterDto,
  ): Promise<void> {
    const headers = {
      'Content-Type': format === 'csv' ? CSV_CONTENT_TYPE : JSONL_CONTENT_TYPE,
      'Content-Disposition': `attachment; filename="audit-log.${format}"`,
    };
    const filters = toAuditFilters(query);
    const pieces = format === 'csv' ? this.csv(filters) : this.jsonl(filters);
    return sendTextStream(response, headers, pieces);
  }

  private async *csv(filters: AuditLogFilters): AsyncGenerator<string> {
    yield toCsv([COLUMNS.map(([name]) => name)]);
    for await (const rows of this.reader.batches(filters)) {
      yield toCsv(rows.map(toAuditLogRow).map((row) => COLUMNS.map(([, read]) => read(row))));
    }
  }

  private async *jsonl(filters: AuditLogFilters): AsyncGenerator<string> {
    for await (const rows of this.reader.batches(filters)) {
      yield rows.map((row) => `${JSON.stringify(toAuditLogRow(row))}\n`).join('');
    }
  }
}
