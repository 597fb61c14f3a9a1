import type { Client } from 'pg';
import {
  toInstant,
  toRecordset,
  type ArchivedRow,
  type RowGroup,
} from '../../core/request-log/archive/archive-format.js';
import type {
  ArchivedFile,
  RequestLogArchive,
} from '../../core/request-log/archive/request-log-archive.js';
import type { Span } from '../../core/request-log/split-span.js';
import { ROW_COLUMNS, type StoredRow } from '../../core/request-log/stored-row.js';

/** Rows that are converted by the database at once. */
const ROWS_AT_ONCE = 500;
/** Columns needed to sum up costs. */
const SPENT_COLUMNS = ['tenant_id', 'api_key_id', 'created_at', 'cost'];

export type StoredWindowRow = StoredRow & { tenantId: string };

/** Credits by tenant id and by API key id, which never collide. */
export type Spent = ReadonlyMap<string, number>;

interface PlacedGroup {
  readonly file: ArchivedFile;
  readonly group: RowGroup;
}

/** The part of a window that is in the archive. All methods throw ArchiveUnavailableError. */
export class ArchivedWindow {
  private constructor(
    private readonly archive: RequestLogArchive,
    private readonly first: string,
    private readonly behind: string,
    /** Ordered by their first row. */
    private readonly groups: readonly PlacedGroup[],
  ) {}

  /** Locates the rows without reading them. */
  static async find(
    client: Client,
    archive: RequestLogArchive,
    span: Span,
  ): Promise<ArchivedWindow> {
    const [first, behind] = [toInstant(span.start), toInstant(span.end)];
    const groups: PlacedGroup[] = [];
    for (const file of await archive.filesIn(client, span)) {
      for (const group of await archive.groupsIn(file, { first, last: behind })) {
        groups.push({ file, group });
      }
    }
    groups.sort((one, other) => compare(one.group.instants.first, other.group.instants.first));
    return new ArchivedWindow(archive, first, behind, groups);
  }

  /** Yields the rows in order of arrival, in batches, without rows that the retention hides. */
  async *rowsOf(client: Client): AsyncGenerator<StoredWindowRow[]> {
    let waiting: ArchivedRow[] = [];
    for (let next = 0; next < this.groups.length || waiting.length > 0;) {
      const begun = this.groups[next];
      if (begun && (waiting.length === 0 || begun.group.instants.first <= timeOf(waiting[0]!))) {
        next++;
        const rows = await this.read(begun);
        if (rows.length > 0) waiting = [...waiting, ...rows].sort(byTime);
        continue;
      }
      // Up to the first row of the next unread group.
      const end = begun?.group.instants.first;
      const found = end === undefined ? -1 : waiting.findIndex((row) => timeOf(row) >= end);
      const ready = found < 0 ? waiting : waiting.slice(0, found);
      waiting = found < 0 ? [] : waiting.slice(found);
      for (let start = 0; start < ready.length; start += ROWS_AT_ONCE) {
        yield await toStored(client, ready.slice(start, start + ROWS_AT_ONCE));
      }
    }
  }

  /** Sums up the cost of the rows by tenant and by key. */
  async spent(): Promise<Spent> {
    const spent = new Map<string, number>();
    for (const placed of this.groups) {
      for (const { tenant_id: tenant, api_key_id: key, cost } of await this.read(
        placed,
        SPENT_COLUMNS,
      )) {
        for (const id of [String(tenant), String(key)]) {
          spent.set(id, (spent.get(id) ?? 0) + Number(cost));
        }
      }
    }
    return spent;
  }

  private async read({ file, group }: PlacedGroup, columns?: string[]): Promise<ArchivedRow[]> {
    const rows = await this.archive.readGroup(file, group, columns);
    return rows.filter((row) => timeOf(row) >= this.first && timeOf(row) < this.behind);
  }
}

async function toStored(client: Client, rows: readonly ArchivedRow[]): Promise<StoredWindowRow[]> {
  const { rows: stored } = await client.query<StoredWindowRow>(
    `SELECT ${ROW_COLUMNS}, tenant_id AS "tenantId"
     FROM json_populate_recordset(NULL::request_logs, $1::json) AS request_logs
     WHERE created_at >= (SELECT swept_before FROM request_log_progress)
     ORDER BY created_at, request_logs.id`,
    [toRecordset(rows)],
  );
  return stored;
}

function timeOf(row: ArchivedRow): string {
  return String(row.created_at);
}

function byTime(one: ArchivedRow, other: ArchivedRow): number {
  return compare(timeOf(one), timeOf(other)) || Number(one.id) - Number(other.id);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
