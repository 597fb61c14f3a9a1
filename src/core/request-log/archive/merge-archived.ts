import type { Database } from '../../../platform/database/database.js';
import {
  TENANT_ROW_COLUMNS,
  type StoredTenantRow,
  type TenantLogRow,
  withTextRead,
} from '../stored-row.js';
import { type ArchivedRow, toRecordset } from './archive-format.js';
import { type ArchivedPlace, newestFirst, type RequestLogArchive } from './request-log-archive.js';

/**
 * Merges the rows of a list from the database and the archive, within a range. Reads only the
 * archived rows that it returns.
 *
 * @throws ArchiveUnavailableError
 */
export async function mergeArchived(
  { database, archive }: { database: Database; archive: RequestLogArchive },
  rows: readonly StoredTenantRow[],
  places: readonly ArchivedPlace[],
  { skip, limit }: { skip: number; limit: number },
): Promise<TenantLogRow[]> {
  if (places.length === 0) return rows.slice(skip, skip + limit).map(withTextRead);
  const list = [
    ...rows.map((row) => ({ at: row.at, id: Number(row.id), row, place: undefined })),
    ...places.map((place) => ({ at: place.at, id: place.id, row: undefined, place })),
  ]
    .sort(newestFirst)
    .slice(skip, skip + limit);
  const archived = await archive.load(list.flatMap(({ place }) => place ?? []));
  const read = new Map((await readArchived(database, archived)).map((row) => [row.id, row]));
  return list.flatMap(({ id, row }) => (row ? withTextRead(row) : (read.get(String(id)) ?? [])));
}

/** Converts archived rows to the form of table rows. Drops rows older than the retention. */
export async function readArchived(
  database: Database,
  archived: readonly ArchivedRow[],
): Promise<TenantLogRow[]> {
  if (archived.length === 0) return [];
  const { rows } = await database.query<StoredTenantRow>(
    `SELECT ${TENANT_ROW_COLUMNS}
       FROM json_populate_recordset(NULL::request_logs, $1::json) AS request_logs
       WHERE created_at >= (SELECT swept_before FROM request_log_progress)`,
    [toRecordset(archived)],
  );
  return rows.map(withTextRead);
}
