import { randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { describeFailure } from './database-failure.js';

const HEARTBEAT_INTERVAL_MS = 5_000;
/** A pause in the heartbeat after which others may have taken this process for dead. */
const LONG_PAUSE_MS = 2 * HEARTBEAT_INTERVAL_MS;

/**
 * This process among those that share the database. Its holds belong to it for as long as its
 * heartbeat goes on; see `HoldSweeperService`.
 */
@Injectable()
export class InstanceService implements OnModuleInit, OnApplicationShutdown {
  readonly id = randomUUID();
  private readonly logger = new Logger(InstanceService.name);
  private interval: NodeJS.Timeout | undefined;
  private beating: Promise<void> = Promise.resolve();
  private lastBeatMs = -Infinity;
  private steadySinceMs = Infinity;

  constructor(private readonly database: Database) {}

  /** Milliseconds for which the heartbeat has gone on without a long pause; 0 before the first. */
  get steadyForMs(): number {
    return Math.max(0, performance.now() - this.steadySinceMs);
  }

  async onModuleInit(): Promise<void> {
    await this.beat();
    this.interval = setInterval(() => {
      this.beating = this.beat().catch((error: unknown) => {
        this.logger.warn(`The heartbeat failed: ${describeFailure(error)}`);
      });
    }, HEARTBEAT_INTERVAL_MS);
    this.interval.unref();
  }

  /** Registers this process, or says that it is still alive. */
  async beat(): Promise<void> {
    const registered = this.lastBeatMs > -Infinity;
    const { rows } = await this.database.query<{ is_new: boolean }>(
      `INSERT INTO instances AS instance (id) VALUES ($1)
       ON CONFLICT (id) DO UPDATE SET heartbeat_at = now()
       RETURNING xmax = 0 AS is_new`,
      [this.id],
    );
    const nowMs = performance.now();
    if (nowMs - this.lastBeatMs > LONG_PAUSE_MS) this.steadySinceMs = nowMs;
    this.lastBeatMs = nowMs;
    if (registered && rows[0]?.is_new) {
      this.logger.warn('This process was taken for dead; its open holds have been released');
    }
  }

  /** Leaves the list. What is still unsettled must have been settled before. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.interval);
    await this.beating;
    try {
      await this.database.query('DELETE FROM instances WHERE id = $1', [this.id]);
    } catch (error) {
      this.logger.warn(`The instance stays registered: ${describeFailure(error)}`);
    }
  }
}
