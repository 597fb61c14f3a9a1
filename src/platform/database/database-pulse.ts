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

/** A server that has not answered a small write for so long is silent. */
const LIMIT_MS = 2_000;
/** An answer that came while this process itself stood still is read before it counts as late. */
const GRACE_MS = 100;
/** What was found out is good for so long: several balancers ask each second, and more often in a fault. */
const FRESH_MS = 250;
const WATCH_EVERY_MS = 1_000;

/**
 * `read-only`, `full`: it refuses writes, for lack of a right or of room. `silent`: it has its connections
 * and does not answer. `unreachable`: anything else.
 */
export const DATABASE_STATES = ['ok', 'read-only', 'full', 'silent', 'unreachable'] as const;
export type DatabaseState = (typeof DATABASE_STATES)[number];

/** A small write of this process's own row, and who hears of what it returned. */
export interface Beat<Row extends QueryResultRow> {
  readonly statement: QueryConfig;
  readonly onBeat: (row: Row | undefined) => void;
}

/**
 * Whether the database takes writes now, found out on a session of its own: whatever fills the pools, this
 * one is free. While requests wait for the database it is looked after, and when it is silent they are
 * let go. See decision 30.
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

  /** From now on requests do not wait for a server that is silent. */
  start(): void {
    this.watch = setInterval(() => {
      if (this.state !== 'ok') void this.look();
      else if (this.database.sessions.isBusy) void this.check();
    }, WATCH_EVERY_MS);
    this.watch.unref();
  }

  /** As of the last quarter of a second. Never rejects, and takes little more than 2 s. */
  check(): Promise<DatabaseState> {
    const isFresh = performance.now() - this.lookedAtMs < FRESH_MS;
    return isFresh ? Promise.resolve(this.state) : this.look();
  }

  /** As of now. */
  look(): Promise<DatabaseState> {
    return (this.looking ??= this.find().finally(() => (this.looking = undefined)));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.watch);
    await this.looking;
    this.drop(this.client);
    // Nobody would notice that it is back.
    this.database.sessions.isSilent = false;
  }

  private async find(): Promise<DatabaseState> {
    if (this.isStopped) return this.state;
    const wasOpen = this.client !== undefined;
    let found = await this.attempt();
    // A session that died since the last time says nothing of the server.
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
    // A server that is silent would not answer a farewell.
    client?.connection.stream.destroy();
  }

  private note({ state, error }: Finding): void {
    const { sessions } = this.database;
    sessions.isSilent = state === 'silent';
    if (sessions.isSilent) sessions.cut();
    if (state === this.state) return;
    this.state = state;
    if (state === 'ok') this.logger.log('The database takes writes again');
    else this.logger.error(`${TOLD[state]}${reasonOf(error)}`);
  }
}

interface Finding {
  readonly state: DatabaseState;
  readonly error: unknown;
}

const TOLD: Readonly<Record<Exclude<DatabaseState, 'ok'>, string>> = {
  'read-only': 'The database is read-only; requests are refused until it takes writes',
  full: 'The disk of the database is full; requests are refused until it has room',
  silent: 'The database does not answer; requests are refused until it does',
  unreachable: 'The database cannot be reached; requests are refused until it can',
};

function stateOf(error: unknown): DatabaseState {
  switch (sqlStateOf(error)) {
    case READ_ONLY:
      return 'read-only';
    case DISK_FULL:
      return 'full';
    // Somebody has the row, which only a server that takes writes can say.
    case LOCK_NOT_AVAILABLE:
      return 'ok';
    default:
      return 'unreachable';
  }
}

/**
 * A write that does not wait for the disk, as a hold does not; and little memory, so that the statement's
 * rows go into a file.
 */
function optionsOf(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'model-gateway pulse',
    // The limit on the whole comes first.
    connectionTimeoutMillis: 2 * LIMIT_MS,
    options: '-c synchronous_commit=off -c work_mem=64kB -c lock_timeout=1000',
  };
}
