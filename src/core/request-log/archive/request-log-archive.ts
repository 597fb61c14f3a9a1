import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { QueryResult, QueryResultRow } from 'pg';
import { toStoredText } from '../../../platform/database/stored-text.js';
import type { RequestTags } from '../../../canonical/request-tags.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import type { LogFilters } from '../log-dimensions.js';
import type { Span } from '../split-span.js';
import { ArchiveBucket } from './archive-bucket.js';
import {
  type ArchivedRow,
  type ArchiveFile,
  type Bounds,
  openArchiveFile,
  type RowGroup,
  toInstant,
} from './archive-format.js';

/** Footers cached in memory, up to half a megabyte each. */
const OPEN_FILES = 32;

/** A file of the archive, as in `archived_request_logs`. */
export interface ArchivedFile {
  readonly key: string;
  readonly bytes: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** A row's position in a list and in the archive. */
export interface ArchivedPlace {
  /** As `instantSql` formats it. */
  readonly at: string;
  readonly id: number;
  readonly file: ArchivedFile;
  readonly group: RowGroup;
  readonly row: number;
}

export interface ArchiveQuery {
  readonly tenantIds: readonly string[];
  readonly filters: LogFilters;
  /** Spans with inclusive bounds. */
  readonly spans: readonly Bounds[];
  /** Only rows after this one in the list. */
  readonly after?: { readonly at: string; readonly id: number };
  readonly limit: number;
}

interface Querier {
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<QueryResult<Row>>;
}

/** A file or group to open, with the latest time of its rows. */
interface Candidate {
  readonly lastAt: string;
  readonly file: ArchivedFile;
  readonly group?: RowGroup;
}

/** Finds tenants' rows in the archive. All methods throw ArchiveUnavailableError. */
@Injectable()
export class RequestLogArchive {
  private readonly open = new LRUCache<string, Promise<ArchiveFile>>({ max: OPEN_FILES });

  constructor(private readonly bucket: ArchiveBucket) {}

  /**
   * Returns the files that may have rows of any of the tenants in a span. Reads the database only.
   */
  async filesOf(
    database: Querier,
    tenantIds: readonly string[],
    span: Span,
  ): Promise<ArchivedFile[]> {
    const { rows } = await database.query<ArchivedFile>(
      `SELECT key, bytes, first_created_at AS "firstAt", last_created_at AS "lastAt"
       FROM archived_request_logs
       WHERE EXISTS (
           SELECT FROM unnest($1::uuid[]) AS asked (tenant_id)
           WHERE tenant_id BETWEEN first_tenant_id AND last_tenant_id
         ) AND last_created_at >= $2 AND first_created_at < $3
       ORDER BY key`,
      [tenantIds, span.start, span.end],
    );
    return rows;
  }

  /** Returns the files that may have rows of any tenant in a span. Reads the database only. */
  async filesIn(database: Querier, { start, end }: Span): Promise<ArchivedFile[]> {
    const { rows } = await database.query<ArchivedFile>(
      `SELECT key, bytes, first_created_at AS "firstAt", last_created_at AS "lastAt"
       FROM archived_request_logs WHERE last_created_at >= $1 AND first_created_at < $2
       ORDER BY key`,
      [start, end],
    );
    return rows;
  }

  /** Returns the groups of a file that may have rows in a span. */
  async groupsIn(file: ArchivedFile, span: Bounds): Promise<RowGroup[]> {
    const { groups } = await this.fileOf(file);
    return groups.filter(({ instants }) => overlap(span, instants));
  }

  /**
   * @param columns undefined for all
   */
  async readGroup(file: ArchivedFile, group: RowGroup, columns?: string[]): Promise<ArchivedRow[]> {
    return (await this.fileOf(file)).read(group, columns);
  }

  /** Returns the first rows of a list, newest first. Reads no more groups than necessary. */
  async newest(files: readonly ArchivedFile[], query: ArchiveQuery): Promise<ArchivedPlace[]> {
    const candidates: Candidate[] = files.map((file) => ({ lastAt: endOf(file), file }));
    let found: ArchivedPlace[] = [];
    for (;;) {
      const next = takeNewest(candidates);
      if (!next) return found;
      const last = found[query.limit - 1];
      if (last && last.at > next.lastAt) return found;
      const { file, group } = next;
      if (group) {
        found.push(...(await this.match(file, group, query)));
        found = found.sort(newestFirst).slice(0, query.limit);
        continue;
      }
      const { groups } = await this.fileOf(file);
      for (const each of groups) {
        const isWanted =
          query.tenantIds.some((tenantId) => has(each.tenants, tenantId)) &&
          query.spans.some((span) => overlap(span, each.instants)) &&
          (query.after === undefined || each.instants.first <= query.after.at);
        if (isWanted) candidates.push({ lastAt: each.instants.last, file, group: each });
      }
    }
  }

  /**
   * @param columns undefined for all
   * @returns the rows, in any order
   */
  async load(places: readonly ArchivedPlace[], columns?: string[]): Promise<ArchivedRow[]> {
    const groups = new Map<RowGroup, ArchivedPlace[]>();
    for (const place of places) {
      const others = groups.get(place.group);
      if (others) others.push(place);
      else groups.set(place.group, [place]);
    }
    const rows: ArchivedRow[] = [];
    for (const [group, wanted] of groups) {
      const all = await (await this.fileOf(wanted[0]!.file)).read(group, columns);
      for (const { row } of wanted) rows.push(all[row]!);
    }
    return rows;
  }

  /**
   * @param requestId a UUID
   */
  async find(
    database: Querier,
    tenantId: string,
    requestId: string,
  ): Promise<ArchivedRow | undefined> {
    const { rows: files } = await database.query<ArchivedFile>(
      `SELECT key, bytes, first_created_at AS "firstAt", last_created_at AS "lastAt"
       FROM archived_request_logs
       WHERE ($1::uuid, $2::uuid) >= (first_tenant_id, first_request_id)
         AND ($1::uuid, $2::uuid) <= (last_tenant_id, last_request_id)
         AND $2::uuid >= first_request_id(month)
         AND $2::uuid < first_request_id((month + interval '1 month')::date)`,
      [tenantId, requestId],
    );
    const id = requestId.toLowerCase();
    for (const file of files) {
      const opened = await this.fileOf(file);
      for (const group of opened.groups) {
        if (!has(group.tenants, tenantId) || !has(group.requests, id)) continue;
        const rows = await opened.read(group);
        const row = rows.find((each) => each.request_id === id && each.tenant_id === tenantId);
        if (row) return row;
      }
    }
    return undefined;
  }

  private async match(
    file: ArchivedFile,
    group: RowGroup,
    { tenantIds, filters, spans, after }: ArchiveQuery,
  ): Promise<ArchivedPlace[]> {
    const wanted = [
      { column: 'tenant_id', isLeft: (value: unknown) => tenantIds.some((id) => id === value) },
      ...checksOf(filters),
    ];
    const columns = ['id', 'created_at', ...wanted.map(({ column }) => column)];
    const rows = await (await this.fileOf(file)).read(group, columns);
    return rows.flatMap((values, row) => {
      if (!wanted.every(({ column, isLeft }) => isLeft(values[column]))) return [];
      const place = { at: String(values.created_at), id: Number(values.id), file, group, row };
      if (!spans.some((span) => has(span, place.at))) return [];
      return after && newestFirst(place, after) <= 0 ? [] : [place];
    });
  }

  private fileOf({ key, bytes }: ArchivedFile): Promise<ArchiveFile> {
    const known = this.open.get(key);
    if (known) return known;
    const opening = openArchiveFile({
      byteLength: bytes,
      slice: (start, end = bytes) => this.bucket.read(key, start, end),
    }).catch((error: unknown) => {
      this.open.delete(key);
      throw error;
    });
    this.open.set(key, opening);
    return opening;
  }
}

/** Returns the filters as checks on columns. */
function checksOf({ tags, minCost = 0, maxCost = Infinity, ...filters }: LogFilters) {
  const { status, model, provider, endpoint, apiKeyId, endUser } = filters;
  const texts = { status, model, provider, endpoint, end_user: endUser };
  const checks = Object.entries({ ...texts, api_key_id: apiKeyId?.toLowerCase() }).flatMap(
    ([column, value]) => {
      const stored = value === undefined ? undefined : toStoredText(value);
      return stored === undefined ? [] : [{ column, isLeft: (found: unknown) => found === stored }];
    },
  );
  if (minCost > 0 || maxCost < Infinity) {
    const isLeft = (cost: unknown) => Number(cost) >= minCost && Number(cost) <= maxCost;
    checks.push({ column: 'cost', isLeft });
  }
  if (tags) checks.push({ column: 'tags', isLeft: (text) => hasTags(text, tags) });
  return checks;
}

/**
 * @param text JSON of a row's tags
 */
function hasTags(text: unknown, tags: RequestTags): boolean {
  const found: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
  if (!isJsonObject(found)) return false;
  return Object.entries(tags).every(([key, value]) => found[key] === value);
}

/** Compares rows by time and id, like lists do. */
export function newestFirst(
  one: { readonly at: string; readonly id: number },
  other: { readonly at: string; readonly id: number },
): number {
  if (one.at !== other.at) return one.at > other.at ? -1 : 1;
  return other.id - one.id;
}

export function overlap(one: Bounds, other: Bounds): boolean {
  return one.first <= other.last && one.last >= other.first;
}

/** Returns the bounds of a file's rows, rounded up because Date cuts microseconds. */
export function boundsOf(file: ArchivedFile): Bounds {
  return { first: toInstant(file.firstAt), last: endOf(file) };
}

function endOf({ lastAt }: ArchivedFile): string {
  return `${lastAt.toISOString().slice(0, -1)}999Z`;
}

function has({ first, last }: Bounds, value: string): boolean {
  return first <= value && value <= last;
}

function takeNewest(candidates: Candidate[]): Candidate | undefined {
  let best = 0;
  for (const [place, { lastAt }] of candidates.entries()) {
    if (lastAt > candidates[best]!.lastAt) best = place;
  }
  return candidates.splice(best, 1)[0];
}
