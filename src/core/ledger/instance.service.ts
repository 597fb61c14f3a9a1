import { randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { DatabasePulse, type DatabaseState } from '../../platform/database/database-pulse.js';
import type { RecentFigures } from '../../platform/metrics/recent-requests.js';
import { describeError } from './database-failure.js';

const HEARTBEAT_INTERVAL_MS = 5_000;
/** A pause in the heartbeat after which others may have taken this process for dead. */
const LONG_PAUSE_MS = 2 * HEARTBEAT_INTERVAL_MS;
/** Four missed heartbeats; with the interval of sweeps a dead process is noticed within 25 s. */
export const DEAD_AFTER_SECONDS = 20;

/**
 * Registers this process, or says that it is still alive. The rows on the way go into a file of 128 kB that
 * is gone with the statement: a disk that is full has no room for it, while the row itself has its place.
 */
const BEAT = `
  WITH filler AS MATERIALIZED (
    SELECT repeat('.', 1000) AS text FROM generate_series(1, 128)
  ), beat AS (
    INSERT INTO instances AS instance (id, live) VALUES ($1, $2)
    ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(), live = excluded.live
    RETURNING xmax = 0 AS is_new
  )
  SELECT is_new, (SELECT max(length(text)) FROM filler) AS filled FROM beat`;

/** What a process says of itself; all of it may be shown to operators. */
export interface InstanceFacts {
  readonly role: 'gateway' | 'worker';
  /** Of the program. */
  readonly version: string;
  /** The machine's name for itself. */
  readonly host: string;
  readonly pid: number;
  /** The last migration that it knows. */
  readonly schema: string;
  /** Of its current GATEWAY_SECRET. */
  readonly secret: string;
  /** Fingerprint of its models, routes and prices. */
  readonly catalogue: string;
  /** The version of the configuration that it uses; null before the first. */
  readonly config_version: number | null;
  /** Fingerprint of all that it is configured to do, its own variables and files included. */
  readonly config: string;
  /** Where it keeps artifacts: the same text for the same place. */
  readonly artifacts: string;
}

/** What a process is doing; told with each heartbeat, so it has to stay small. */
export interface InstanceLive {
  /** Calls of models from their admission to the end of their answers. */
  readonly requests_in_flight: number;
  /** Settlements and log rows that wait for their commit. */
  readonly pending_settlements: number;
  /** Requests that have ended lately. */
  readonly recent: RecentFigures;
  /** Shared routes that it leaves alone at the moment, the worst first, and no more than a few. */
  readonly routes: readonly InstanceRoute[];
  /** How many more of those there are. */
  readonly more_routes: number;
  /** Shared routes that fail again and again, between two pauses too; alerts tell of them. */
  readonly failing: readonly Omit<InstanceRoute, 'state'>[];
  /** Of its latest requests that a second route may be asked for, by what became of that. */
  readonly hedging: { readonly requests: number; readonly hedged: number; readonly won: number };
}

export interface InstanceRoute {
  readonly provider: string;
  /** The operator's account that it is about, where the provider has several. */
  readonly account?: string;
  /** The provider's own name for the model; null: the provider as a whole. */
  readonly model: string | null;
  readonly state: string;
}

/** A process that is alive. One of an older version may say less of itself, or nothing. */
export interface LivingInstance {
  readonly id: string;
  readonly startedAt: Date;
  readonly heartbeatAt: Date;
  readonly facts: Partial<InstanceFacts>;
  /** As of its heartbeat. */
  readonly live: Partial<InstanceLive>;
}

/**
 * This process among those that share the database. Its holds belong to it for as long as its
 * heartbeat goes on; see `HoldSweeperService`. The heartbeat also tells whether the database takes writes.
 */
@Injectable()
export class InstanceService implements OnModuleInit, OnApplicationShutdown {
  readonly id = randomUUID();
  /**
   * Requests whose holds this process answers for: from before they are asked for until what ends them is
   * committed. Any other hold in its name is nobody's.
   */
  readonly holds = new Set<string>();
  private readonly logger = new Logger(InstanceService.name);
  private readonly pulse: DatabasePulse<{ is_new: boolean }>;
  private interval: NodeJS.Timeout | undefined;
  private lastBeatMs = -Infinity;
  private steadySinceMs = Infinity;
  private facts: InstanceFacts | undefined;
  private readLive: (() => InstanceLive) | undefined;

  constructor(private readonly database: Database) {
    const { id } = this;
    const live = (): string => JSON.stringify(this.readLive?.() ?? {});
    const statement = {
      text: BEAT,
      // Asked for with each heartbeat.
      get values() {
        return [id, live()];
      },
    };
    this.pulse = new DatabasePulse(database, { statement, onBeat: (row) => this.note(row) });
  }

  /** Milliseconds for which the heartbeat has gone on without a long pause; 0 before the first. */
  get steadyForMs(): number {
    return Math.max(0, performance.now() - this.steadySinceMs);
  }

  async onModuleInit(): Promise<void> {
    await this.beat();
    this.pulse.start();
    this.interval = setInterval(() => void this.pulse.check(), HEARTBEAT_INTERVAL_MS);
    this.interval.unref();
  }

  /** Takes note of a hold that is asked for: this process answers for it unless it is refused. */
  own(requestId: string, asked: Promise<{ readonly admitted: boolean }>): void {
    this.holds.add(requestId);
    const disown = (): boolean => this.holds.delete(requestId);
    asked.then(({ admitted }) => admitted || disown(), disown);
  }

  /** This process answers for a hold no longer once what ends it is committed, or given up. */
  disownAfter(ending: Promise<unknown>, requestId: string): void {
    const disown = (): boolean => this.holds.delete(requestId);
    ending.then(disown, disown);
  }

  /** Registers this process, or says that it is still alive. @throws Error when the database takes no writes */
  async beat(): Promise<void> {
    const state = await this.pulse.look();
    if (state !== 'ok') throw new Error(`The database takes no writes: it is ${state}.`);
  }

  /** Whether the database takes writes, as of the last moment; this is a heartbeat too. Never rejects. */
  check(): Promise<DatabaseState> {
    return this.pulse.check();
  }

  /** From now on each heartbeat tells what this process is doing. */
  reportLive(read: () => InstanceLive): void {
    this.readLive = read;
  }

  /** Tells the others, and operators, what this process is. */
  async describe(facts: InstanceFacts): Promise<void> {
    this.facts = facts;
    await this.database.lookUps.query('UPDATE instances SET facts = $2 WHERE id = $1', [
      this.id,
      JSON.stringify(facts),
    ]);
  }

  /** All processes on this database that are alive, this one included; the oldest first. */
  async living(): Promise<LivingInstance[]> {
    const { rows } = await this.database.lookUps.query<LivingInstance>(
      `SELECT id, started_at AS "startedAt", heartbeat_at AS "heartbeatAt", facts, live FROM instances
       WHERE heartbeat_at > now() - make_interval(secs => $1) ORDER BY started_at, id`,
      [DEAD_AFTER_SECONDS],
    );
    return rows;
  }

  /** Leaves the list. What is still unsettled must have been settled before. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.interval);
    await this.pulse.stop();
    try {
      await this.database.lookUps.query('DELETE FROM instances WHERE id = $1', [this.id]);
    } catch (error) {
      this.logger.warn(`The instance stays registered: ${describeError(error)}`);
    }
  }

  private note(row: { is_new: boolean } | undefined): void {
    const registered = this.lastBeatMs > -Infinity;
    const nowMs = performance.now();
    if (nowMs - this.lastBeatMs > LONG_PAUSE_MS) this.steadySinceMs = nowMs;
    this.lastBeatMs = nowMs;
    if (!registered || !row?.is_new) return;
    this.logger.warn('This process was taken for dead; its open holds have been released');
    if (this.facts) {
      this.describe(this.facts).catch((error: unknown) => {
        this.logger.warn(`This process could not be described: ${describeError(error)}`);
      });
    }
  }
}
