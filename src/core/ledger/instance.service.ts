import { randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { DatabasePulse, type DatabaseState } from '../../platform/database/database-pulse.js';
import type { RecentFigures } from '../../platform/metrics/recent-requests.js';
import { describeError } from './database-failure.js';

const HEARTBEAT_INTERVAL_MS = 5_000;
/** A heartbeat gap after which others may have taken this process for dead. */
const LONG_PAUSE_MS = 2 * HEARTBEAT_INTERVAL_MS;
/** Four missed heartbeats; with the sweep interval, a dead process is noticed within 25 s. */
export const DEAD_AFTER_SECONDS = 20;

/**
 * Registers this process or renews its heartbeat. The filler rows spill into a temporary file of 128 kB,
 * so that the statement fails on a full disk, which would still take the small row itself.
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

/** How a process describes itself; operators may see all of it. */
export interface InstanceFacts {
  readonly role: 'gateway' | 'worker';
  /** The program's version. */
  readonly version: string;
  /** The machine's host name. */
  readonly host: string;
  readonly pid: number;
  /** The latest migration that it knows. */
  readonly schema: string;
  /** Fingerprint of its current GATEWAY_SECRET. */
  readonly secret: string;
  /** Fingerprint of its models, routes and prices. */
  readonly catalogue: string;
  /** The configuration version in use; null before the first. */
  readonly config_version: number | null;
  /** Fingerprint of its entire configuration, including its own variables and files. */
  readonly config: string;
  /** Identifies its artifact store: equal texts mean the same store. */
  readonly artifacts: string;
}

/** Live state of a process. Part of every heartbeat, so it must stay small. */
export interface InstanceLive {
  /** Model calls between admission and the end of their answers. */
  readonly requests_in_flight: number;
  /** Settlements and log rows awaiting their commit. */
  readonly pending_settlements: number;
  /** Recently finished requests. */
  readonly recent: RecentFigures;
  /** Shared routes that it avoids, worst first; only a few. */
  readonly routes: readonly InstanceRoute[];
  /** How many more such routes there are. */
  readonly more_routes: number;
  /** Shared routes that keep failing, between cooldowns too; alerts report them. */
  readonly failing: readonly Omit<InstanceRoute, 'state'>[];
  /** Recent requests that allow hedging, by outcome. */
  readonly hedging: { readonly requests: number; readonly hedged: number; readonly won: number };
}

export interface InstanceRoute {
  readonly provider: string;
  /** The operator's account at the provider, when there are several. */
  readonly account?: string;
  /** The provider's own model id; null: the provider as a whole. */
  readonly model: string | null;
  readonly state: string;
}

/** A running process. Older versions may report less, or nothing. */
export interface LivingInstance {
  readonly id: string;
  readonly startedAt: Date;
  readonly heartbeatAt: Date;
  readonly facts: Partial<InstanceFacts>;
  /** As of its last heartbeat. */
  readonly live: Partial<InstanceLive>;
}

/**
 * This process among those that share the database. It keeps its holds as long as its heartbeat
 * continues; see `HoldSweeperService`. The heartbeat also shows whether the database accepts writes.
 */
@Injectable()
export class InstanceService implements OnModuleInit, OnApplicationShutdown {
  readonly id = randomUUID();
  /**
   * Requests whose holds this process tracks: from before they are requested until their end is
   * committed. Any other hold with its instance id is orphaned.
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
      // Read for each heartbeat.
      get values() {
        return [id, live()];
      },
    };
    this.pulse = new DatabasePulse(database, { statement, onBeat: (row) => this.note(row) });
  }

  /** Milliseconds since the heartbeat last had a long gap; 0 before the first. */
  get steadyForMs(): number {
    return Math.max(0, performance.now() - this.steadySinceMs);
  }

  async onModuleInit(): Promise<void> {
    await this.beat();
    this.pulse.start();
    this.interval = setInterval(() => void this.pulse.check(), HEARTBEAT_INTERVAL_MS);
    this.interval.unref();
  }

  /** Tracks a hold that is being requested, until it is rejected or ends. */
  trackHold(requestId: string, outcome: Promise<{ readonly admitted: boolean }>): void {
    this.holds.add(requestId);
    const untrack = (): boolean => this.holds.delete(requestId);
    outcome.then(({ admitted }) => admitted || untrack(), untrack);
  }

  /** Stops tracking a hold once its end is committed or has failed. */
  untrackHoldAfter(ending: Promise<unknown>, requestId: string): void {
    const untrack = (): boolean => this.holds.delete(requestId);
    ending.then(untrack, untrack);
  }

  /** Registers this process or renews its heartbeat. @throws Error when the database rejects writes */
  async beat(): Promise<void> {
    const state = await this.pulse.look();
    if (state !== 'ok') throw new Error(`The database accepts no writes: it is ${state}.`);
  }

  /** Returns whether the database accepts writes, from a recent heartbeat or a new one. Never rejects. */
  check(): Promise<DatabaseState> {
    return this.pulse.check();
  }

  /** Sets the source of each heartbeat's live data. */
  reportLive(read: () => InstanceLive): void {
    this.readLive = read;
  }

  /** Publishes this process's description to the others and to operators. */
  async describe(facts: InstanceFacts): Promise<void> {
    this.facts = facts;
    await this.database.lookUps.query('UPDATE instances SET facts = $2 WHERE id = $1', [
      this.id,
      JSON.stringify(facts),
    ]);
  }

  /** Returns all running processes on this database, including this one, oldest first. */
  async living(): Promise<LivingInstance[]> {
    const { rows } = await this.database.lookUps.query<LivingInstance>(
      `SELECT id, started_at AS "startedAt", heartbeat_at AS "heartbeatAt", facts, live FROM instances
       WHERE heartbeat_at > now() - make_interval(secs => $1) ORDER BY started_at, id`,
      [DEAD_AFTER_SECONDS],
    );
    return rows;
  }

  /** Unregisters this process. Everything must have been settled before. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.interval);
    await this.pulse.stop();
    try {
      await this.database.lookUps.query('DELETE FROM instances WHERE id = $1', [this.id]);
    } catch (error) {
      this.logger.warn(`instance not unregistered: ${describeError(error)}`);
    }
  }

  private note(row: { is_new: boolean } | undefined): void {
    const registered = this.lastBeatMs > -Infinity;
    const nowMs = performance.now();
    if (nowMs - this.lastBeatMs > LONG_PAUSE_MS) this.steadySinceMs = nowMs;
    this.lastBeatMs = nowMs;
    if (!registered || !row?.is_new) return;
    this.logger.warn('instance considered dead; its open holds were released');
    if (this.facts) {
      this.describe(this.facts).catch((error: unknown) => {
        this.logger.warn(`instance description failed: ${describeError(error)}`);
      });
    }
  }
}
