import { createHash, type Hash } from 'node:crypto';
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import pg, { type PoolClient } from 'pg';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { LOCK_NOT_AVAILABLE } from '../../platform/database/database-outage.js';
import { type MonthPartition, monthsEndedBy } from '../../platform/database/month-partitions.js';
import { DAY_MS, HOUR_MS } from '../../platform/time/dates.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { describeError } from '../../core/ledger/database-failure.js';
import { ArchiveBucket } from '../../core/request-log/archive/archive-bucket.js';
import {
  ARCHIVED_ROW_SQL,
  type ArchivedRow,
  type Bounds,
  lineOf,
  openArchiveFile,
  startArchiveFile,
} from '../../core/request-log/archive/archive-format.js';

/** PostgreSQL ends a transaction that is idle this long during an upload. */
const IDLE_LIMIT_MS = 600_000;
const LOCK_LIMIT_MS = 200;
const LOCK_ATTEMPTS = 10;
const LOCK_PAUSE_MS = 500;

/** Hashes a row, so that a change to it is detected. */
const MARK_SQL = 'hashtextextended(log::text, 0)';

/** A file in the bucket, to be recorded in the database. */
interface StoredFile {
  readonly key: string;
  readonly rows: number;
  readonly bytes: number;
  readonly first: ArchivedRow;
  readonly last: ArchivedRow;
  readonly instants: Bounds;
}

/** An archived month and the sum of its row hashes, which is equal while no row changes. */
interface StoredMonth {
  readonly files: readonly StoredFile[];
  readonly rows: number;
  readonly marks: string;
}

type MarkedRow = ArchivedRow & { mark: string };

/**
 * Moves months of the request log that are old enough to a bucket (docs/decisions/0042), and removes
 * archived files that the log's retention hides. One instance does so at a time. A month leaves the
 * database in the transaction that records its files, after they have been read back. An interrupted
 * run changes nothing, except that it can leave unrecorded files in the bucket.
 */
@Injectable()
export class RequestLogArchiveService implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Rows per file, and per group, which is read as a unit and pruned by tenant and time. */
  protected readonly sizes = { file: 50_000, group: 1_000 };

  private readonly logger = new Logger(RequestLogArchiveService.name);
  private readonly timer = new SweepTimer(
    () => this.sweepNow(),
    (error) => this.logger.warn(`request log archiving failed: ${describeError(error)}`),
  );

  constructor(
    private readonly database: Database,
    private readonly bucket: ArchiveBucket,
    @Inject(APP_CONFIG)
    private readonly config: Pick<AppConfig, 's3' | 'logArchiveAfterDays'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.s3) this.timer.start(HOUR_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** @returns the number of rows moved out of the database @throws ArchiveUnavailableError */
  async sweepNow(now = new Date()): Promise<number> {
    await this.removeHidden();
    const days = this.config.logArchiveAfterDays;
    if (days === 0) return 0;
    const before = new Date(now.getTime() - days * DAY_MS);
    let archived = 0;
    for (const month of await monthsEndedBy(this.database, 'request_logs', before)) {
      if (this.timer.isStopped) break;
      archived += await this.archive(month, before);
    }
    return archived;
  }

  /** Removes files before their record, so that no unknown file is left. */
  private async removeHidden(): Promise<void> {
    const { rows } = await this.database.query<{ key: string }>(
      `SELECT key FROM archived_request_logs, request_log_progress
       WHERE last_created_at < swept_before ORDER BY key`,
    );
    for (const { key } of rows) {
      if (this.timer.isStopped) return;
      await this.bucket.remove(key);
      await this.database.query('DELETE FROM archived_request_logs WHERE key = $1', [key]);
    }
  }

  private archive({ name, month }: MonthPartition, before: Date): Promise<number> {
    return this.database.transaction(async (client) => {
      await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${IDLE_LIMIT_MS}`);
      const { rows: locks } = await client.query<{ is_mine: boolean }>(
        `SELECT pg_try_advisory_xact_lock(hashtext('model-gateway request log archive')) AS is_mine`,
      );
      if (!locks[0]!.is_mine) return 0;
      // Another instance may have archived it since the listing.
      const { rows: found } = await client.query<{ is_there: boolean }>(
        'SELECT to_regclass($1) IS NOT NULL AS is_there',
        [name],
      );
      const isReady = () => this.isReady(client, name, month, before);
      if (!found[0]!.is_there || !(await isReady())) return 0;
      const stored = await this.store(client, name, month);
      if (this.timer.isStopped) return 0;
      return (await this.replace(client, name, month, stored, isReady)) ? stored.rows : 0;
    });
  }

  /** Returns whether the month has rows and none has pending work. */
  private async isReady(
    client: PoolClient,
    name: string,
    month: string,
    before: Date,
  ): Promise<boolean> {
    const { rows } = await client.query<{ is_ready: boolean }>(
      `SELECT count(*) FILTER (WHERE created_at >= swept_before) > 0
         AND count(*) FILTER (WHERE created_at >= $1 OR id > least(rolled_up_id, series_id)) = 0
         AND NOT EXISTS (
           SELECT FROM holds WHERE request_id >= first_request_id(to_date($2, 'YYYY_MM'))
             AND request_id < first_request_id((to_date($2, 'YYYY_MM') + interval '1 month')::date)
         ) AS is_ready
       FROM ${name}, request_log_progress`,
      [before, month],
    );
    return rows[0]!.is_ready;
  }

  /** Writes all rows to files by tenant and request, and reads each back. */
  private async store(client: PoolClient, name: string, month: string): Promise<StoredMonth> {
    await client.query(
      `DECLARE archived_rows NO SCROLL CURSOR FOR
       SELECT ${ARCHIVED_ROW_SQL}, ${MARK_SQL}::text AS mark
       FROM ${name} AS log ORDER BY tenant_id, request_id`,
    );
    const files: StoredFile[] = [];
    let rows = 0;
    let marks = 0n;
    const nextGroup = async (): Promise<ArchivedRow[]> => {
      // Encoding a group takes tens of milliseconds, so yield to requests.
      await breathe();
      const { rows: marked } = await client.query<MarkedRow>(
        `FETCH ${this.sizes.group} FROM archived_rows`,
      );
      rows += marked.length;
      return marked.map(({ mark, ...row }) => {
        marks += BigInt(mark);
        return row;
      });
    };
    let group = await nextGroup();
    while (group.length > 0 && !this.timer.isStopped) {
      const file = await startArchiveFile();
      const lines = createHash('sha256');
      const first = group[0]!;
      let last = first;
      let written = 0;
      while (group.length > 0 && written < this.sizes.file && !this.timer.isStopped) {
        file.add(group);
        addLines(lines, group);
        written += group.length;
        last = group.at(-1)!;
        group = await nextGroup();
      }
      const bytes = file.finish();
      const key = await this.bucket.put(month, bytes);
      const instants = await this.readBack(key, bytes.length, lines.digest('hex'));
      files.push({ key, rows: written, bytes: bytes.length, first, last, instants });
    }
    await client.query('CLOSE archived_rows');
    return { files, rows, marks: String(marks) };
  }

  /** @returns the time span of its rows @throws Error when they differ from the database */
  private async readBack(key: string, bytes: number, digest: string): Promise<Bounds> {
    const file = await openArchiveFile({
      byteLength: bytes,
      slice: (start, end = bytes) => this.bucket.read(key, start, end),
    });
    const lines = createHash('sha256');
    for (const group of file.groups) {
      addLines(lines, await file.read(group));
      await breathe();
    }
    if (lines.digest('hex') !== digest) throw new Error(`${key} has other rows than the database`);
    const instants = file.groups.map((group) => group.instants);
    return {
      first: instants.map(({ first }) => first).sort()[0]!,
      last: instants
        .map(({ last }) => last)
        .sort()
        .at(-1)!,
    };
  }

  /**
   * Drops the month and records its files, unless a row changed in the meantime. Retries a lock
   * that is not granted at once, since requests queue behind it.
   */
  private async replace(
    client: PoolClient,
    name: string,
    month: string,
    { files, rows, marks }: StoredMonth,
    isReady: () => Promise<boolean>,
  ): Promise<boolean> {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_LIMIT_MS}`);
    for (let attempt = 1; ; attempt++) {
      await client.query('SAVEPOINT locks');
      try {
        // Blocks writers of the month from here on. Readers continue until the drop.
        await client.query(`LOCK TABLE ${name} IN SHARE ROW EXCLUSIVE MODE`);
        const { rows: now } = await client.query<Pick<StoredMonth, 'rows' | 'marks'>>(
          `SELECT count(*) AS rows, sum(${MARK_SQL}::numeric)::text AS marks FROM ${name} AS log`,
        );
        const isAsStored = now[0]!.rows === rows && now[0]!.marks === marks;
        if (!isAsStored || !(await isReady())) return false;
        await client.query(WRITE_DOWN, [month, JSON.stringify(files)]);
        await client.query(`DROP TABLE ${name}`);
        return true;
      } catch (error) {
        const code = error instanceof pg.DatabaseError ? error.code : undefined;
        if (code !== LOCK_NOT_AVAILABLE || attempt === LOCK_ATTEMPTS) throw error;
        await client.query('ROLLBACK TO SAVEPOINT locks');
        await pause(LOCK_PAUSE_MS);
      }
    }
  }
}

const WRITE_DOWN = `
  INSERT INTO archived_request_logs (
    key, month, rows, bytes, first_tenant_id, first_request_id, last_tenant_id, last_request_id,
    first_created_at, last_created_at
  )
  SELECT key, to_date($1, 'YYYY_MM'), rows, bytes,
    (first ->> 'tenant_id')::uuid, (first ->> 'request_id')::uuid,
    (last ->> 'tenant_id')::uuid, (last ->> 'request_id')::uuid,
    (instants ->> 'first')::timestamptz, (instants ->> 'last')::timestamptz
  FROM json_to_recordset($2::json) AS file (
    key text, rows integer, bytes bigint, first json, last json, instants json
  )`;

function addLines(lines: Hash, rows: readonly ArchivedRow[]): void {
  for (const row of rows) lines.update(`${lineOf(row)}\n`);
}
