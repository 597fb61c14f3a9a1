import { Logger } from '@nestjs/common';
import pg, { type QueryConfig, type QueryResultRow } from 'pg';
import { endsWithin } from '../time/within.js';
import {
  DISK_FULL,
  LOCK_NOT_AVAILABLE,
  READ_ONLY,
  reasonOf,
  sqlStateOf,
} from './database-outage.js';
import type { Database } from './database.js';

/** A server that does not answer a small write within this time is silent. */
const LIMIT_MS = 2_000;
/** An answer that arrived while this process was blocked is read before it counts as late. */
const GRACE_MS = 100;
/** How long a result is reused: several load balancers ask each second, and more often during an outage. */
const FRESH_MS = 250;
const WATCH_EVERY_MS = 1_000;

/**
 * `read-only` and `full`: rejects writes, for lack of permission or space. `silent`: accepts connections
 * but does not answer. `unreachable`: anything else.
 */
export const DATABASE_STATES = ['ok', 'read-only', 'full', 'silent', 'unreachable'] as const;
export type DatabaseState = (typeof DATABASE_STATES)[number];

/** A small write to this process's own row, and the receiver of the row that it returns. */
export interface Beat<Row extends QueryResultRow> {
  readonly statement: QueryConfig;
  readonly onBeat: (row: Row | undefined) => void;
}

/**
 * Determines whether the database accepts writes, on a session of its own that full pools cannot block.
 * Checks regularly while requests wait for the database; when it is silent, fails them. See decision 30.
 */
export class DatabasePulse<Row extends QueryResultRow> {
  state: DatabaseState = 'ok';
  private readonly logger = new Logger('Database');
  private client: pg.Client | undefined;
  private looking: Promise<DatabaseState> | undefined;
  private lookedAtMs = -Infinity;
  private watch: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly database: Database,
    private readonly beat: Beat<Row>,
  ) {}

  /** Starts the regular checks, so that requests do not wait for a silent server. */
  start(): void {
    this.watch = setInterval(() => {
      if (this.state !== 'ok') void this.look();
      else if (this.database.sessions.isBusy) void this.check();
    }, WATCH_EVERY_MS);
    this.watch.unref();
  }

  /** Returns the state, at most 250 ms old. Never rejects, and takes little more than 2 s. */
  check(): Promise<DatabaseState> {
    const isFresh = performance.now() - this.lookedAtMs < FRESH_MS;
    return isFresh ? Promise.resolve(this.state) : this.look();
  }

  /** Returns the current state. */
  look(): Promise<DatabaseState> {
    return (this.looking ??= this.find().finally(() => (this.looking = undefined)));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.watch);
    await this.looking;
    this.drop(this.client);
    // Nothing would notice a recovery from here on.
    this.database.sessions.isSilent = false;
  }

  private async find(): Promise<DatabaseState> {
    if (this.isStopped) return this.state;
    const wasOpen = this.client !== undefined;
    let found = await this.attempt();
    // A session that died since the last check says nothing about the server.
    if (wasOpen && found.state === 'unreachable') found = await this.attempt();
    this.lookedAtMs = performance.now();
    this.note(found);
    return found.state;
  }

  private async attempt(): Promise<Finding> {
    const writing = this.write();
    if (!(await endsWithin(LIMIT_MS, writing)) && !(await endsWithin(GRACE_MS, writing))) {
      this.drop(this.client);
      return { state: 'silent', error: undefined };
    }
    try {
      await writing;
      return { state: 'ok', error: undefined };
    } catch (error) {
      this.drop(this.client);
      return { state: stateOf(error), error };
    }
  }

  private async write(): Promise<void> {
    if (!this.client) {
      const client = new pg.Client(optionsOf(this.database.url));
      client.on('error', () => this.drop(client));
      this.client = client;
      await client.connect();
    }
    const { rows } = await this.client.query<Row>(this.beat.statement);
    this.beat.onBeat(rows[0]);
  }

  private drop(client: pg.Client | undefined): void {
    if (this.client === client) this.client = undefined;
    // Without a farewell, which a silent server would not answer.
    client?.connection.stream.destroy();
  }

  private note({ state, error }: Finding): void {
    const { sessions } = this.database;
    sessions.isSilent = state === 'silent';
    if (sessions.isSilent) sessions.cut();
    if (state === this.state) return;
    this.state = state;
    if (state === 'ok') this.logger.log('The database accepts writes again');
    else this.logger.error(`${OUTAGES[state]}${reasonOf(error)}`);
  }
}

interface Finding {
  readonly state: DatabaseState;
  readonly error: unknown;
}

const OUTAGES: Readonly<Record<Exclude<DatabaseState, 'ok'>, string>> = {
  'read-only': 'The database is read-only; rejecting requests until it accepts writes',
  full: 'The disk of the database is full; rejecting requests until it has space',
  silent: 'The database does not answer; rejecting requests until it does',
  unreachable: 'The database is unreachable; rejecting requests until it is back',
};

function stateOf(error: unknown): DatabaseState {
  switch (sqlStateOf(error)) {
    case READ_ONLY:
      return 'read-only';
    case DISK_FULL:
      return 'full';
    // Another session has the row, so the server accepts writes.
    case LOCK_NOT_AVAILABLE:
      return 'ok';
    default:
      return 'unreachable';
  }
}

/**
 * Does not wait for the disk, like a hold. Little memory makes the statement's rows go to a file, which
 * detects a full disk.
 */
function optionsOf(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'model-gateway pulse',
    // The limit of the whole check applies first.
    connectionTimeoutMillis: 2 * LIMIT_MS,
    options: '-c synchronous_commit=off -c work_mem=64kB -c lock_timeout=1000',
  };
}
