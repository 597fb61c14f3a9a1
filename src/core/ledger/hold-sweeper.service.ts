import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { describeFailure } from './describe-failure.js';
import { InstanceService } from './instance.service.js';
import { SWEEP_HOLDS, SWEEP_INSTANCES, TENANTS_TO_SWEEP } from './sweep-statements.js';

const SWEEP_INTERVAL_MS = 5_000;
/** Four missed heartbeats; with the interval of sweeps a dead process is noticed within 25 s. */
const DEAD_AFTER_SECONDS = 20;
/**
 * After an outage of the database every heartbeat is old, so whoever is back first must leave the
 * others the time to come back too.
 */
const STEADY_BEFORE_SWEEP_MS = 10_000;
/** Tenants whose accounts one transaction locks. */
const MAX_TENANTS = 200;

export interface SweepOptions {
  /** True where no other process can use the database, as with an embedded one at start. */
  assumeOthersDead: boolean;
}

/**
 * Releases the holds of processes that died: the tenant has the credits back within 30 s, and the
 * log a row with the outcome `crashed` and no cost. Any number of instances may sweep at once.
 */
@Injectable()
export class HoldSweeperService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(HoldSweeperService.name);
  private readonly timer = new SweepTimer(
    () => this.sweepIfSteady(),
    (error) => this.logger.warn(`The sweep of holds failed: ${describeFailure(error)}`),
  );

  constructor(
    private readonly database: Database,
    private readonly instance: InstanceService,
  ) {}

  onApplicationBootstrap(): void {
    this.timer.startLater(SWEEP_INTERVAL_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Returns how many holds were released. */
  async sweepNow({ assumeOthersDead }: SweepOptions): Promise<number> {
    const dead = [this.instance.id, assumeOthersDead ? 0 : DEAD_AFTER_SECONDS];
    let released = 0;
    for (;;) {
      const { rows } = await this.database.query<{ tenant_id: string }>(TENANTS_TO_SWEEP, [
        ...dead,
        MAX_TENANTS,
      ]);
      if (rows.length === 0) break;
      const tenantIds = rows.map((row) => row.tenant_id);
      released += await this.database.transaction(async (client) => {
        await client.query(
          'SELECT FROM accounts WHERE tenant_id = ANY ($1::uuid[]) ORDER BY tenant_id FOR UPDATE',
          [tenantIds],
        );
        const swept = await client.query(SWEEP_HOLDS, [...dead, tenantIds]);
        return swept.rowCount ?? 0;
      });
    }
    await this.database.query(SWEEP_INSTANCES, dead);
    if (released > 0) this.logger.warn(`Released ${released} holds of processes that died`);
    return released;
  }

  private async sweepIfSteady(): Promise<void> {
    if (this.instance.steadyForMs < STEADY_BEFORE_SWEEP_MS) return;
    await this.sweepNow({ assumeOthersDead: false });
  }
}
