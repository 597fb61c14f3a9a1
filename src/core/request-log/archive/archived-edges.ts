import type { PoolClient } from 'pg';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Database } from '../../../platform/database/database.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import { readSnapshot, type RequestLogProgress } from '../request-log-filters.js';
import { splitSpan, type Span } from '../split-span.js';
import { toInstant, toRecordset } from './archive-format.js';
import {
  type ArchivedFile,
  boundsOf,
  overlap,
  type RequestLogArchive,
} from './request-log-archive.js';

/** Limit of rows counted individually, where a span cuts an hour. */
const MAX_ROWS = 50_000;
/** So many rows take tens of megabytes, so two requests at a time may read them. */
export const archiveReading = pLimit(2);
/** The columns in `FACT_COLUMNS` and `SERIES_COLUMNS`. */
const COLUMNS = [
  'id',
  'tenant_id',
  'api_key_id',
  'endpoint',
  'model',
  'provider',
  'status',
  'prompt_tokens',
  'completion_tokens',
  'cost',
  'shortfall',
  'vendor_cost',
  'tags',
  'end_user',
  'latency_ms',
  'created_at',
];

/** Selects archived rows from a parameter with a JSON document. */
export const archivedRowsSql = (parameter: string): string =>
  `json_populate_recordset(NULL::request_logs, ${parameter}::json) AS archived`;

/** A snapshot of the database with the matching part of the archive. */
export interface ArchivedSnapshot {
  readonly client: PoolClient;
  readonly progress: RequestLogProgress;
  readonly span: Span;
  /** Files that may have rows of the tenant in the span. */
  readonly files: ArchivedFile[];
  /** Archived rows of the hours that the span cuts, as JSON; undefined when there are none. */
  readonly edgeRows: string | undefined;
}

/**
 * Reads a snapshot that includes archived months: whole hours come from the sums, and rows of the
 * hours that the span cuts are read from the archive first. Holds no connection meanwhile.
 *
 * @throws ArchiveUnavailableError, InvalidRequestError for too many such rows
 */
export async function readWithEdges<Result>(
  { database, archive, limit }: ArchivedReading,
  tenantId: string,
  spanOf: (progress: RequestLogProgress) => Span,
  work: (snapshot: ArchivedSnapshot) => Promise<Result>,
): Promise<Result> {
  let edges: { of: string; rows: string } | undefined;
  for (;;) {
    const read = await limit(() =>
      readSnapshot(database, async (client, progress) => {
        const span = spanOf(progress);
        const files = progress.hasArchive ? await archive.filesOf(client, [tenantId], span) : [];
        const { rowsBefore, rowsAfter } = splitSpan(span);
        const cuts = [rowsBefore, rowsAfter].filter(({ start, end }) => start < end).map(toBounds);
        const cutFiles = files.filter((file) => cuts.some((cut) => overlap(cut, boundsOf(file))));
        const of = cutFiles.map(({ key }) => key).join();
        // Another month may have been archived meanwhile.
        if (of !== '' && edges?.of !== of) return { missing: { of, cuts, cutFiles } };
        const edgeRows = of === '' ? undefined : edges?.rows;
        return { done: [await work({ client, progress, span, files, edgeRows })] as const };
      }),
    );
    if (read.done) return read.done[0];
    const { of, cuts, cutFiles } = read.missing;
    edges = await archiveReading(async () => {
      const places = await archive.newest(cutFiles, {
        tenantIds: [tenantId],
        filters: {},
        spans: cuts,
        limit: MAX_ROWS + 1,
      });
      if (places.length > MAX_ROWS) {
        throw new InvalidRequestError(
          'start_date',
          'Too many archived requests fall into partial hours. Set start_date and end_date to whole hours (UTC).',
        );
      }
      return { of, rows: toRecordset(await archive.load(places, COLUMNS)) };
    });
  }
}

export interface ArchivedReading {
  readonly database: Database;
  readonly archive: RequestLogArchive;
  readonly limit: LimitFunction;
}

/** Returns the inclusive bounds of a span. */
export function toBounds({ start, end }: Span): { first: string; last: string } {
  const last = new Date(end.getTime() - 1);
  return { first: toInstant(start), last: `${last.toISOString().slice(0, -1)}999Z` };
}
