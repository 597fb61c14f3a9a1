import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { DueWork } from '../../platform/database/due-work.js';
import { toError } from '../../platform/errors/thrown.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { ARE_UNCOUNTED, COUNT_USE, UNCOUNTED, type UseRow } from './budget-statements.js';
import { classifyFailure, describeError } from './database-failure.js';
import { DEAD_AFTER_SECONDS, InstanceService } from './instance.service.js';

/**
 * Statements of the hold sweeper. $1 is the sweeping instance, which is never dead; $2 the seconds
 * without a heartbeat after which another instance is dead.
 */

const IS_DEAD = `
  instance_id <> $1::uuid AND NOT EXISTS (
    SELECT FROM instances
    WHERE instances.id = holds.instance_id
      AND instances.heartbeat_at > now() - make_interval(secs => $2)
  )`;

/** Matches holds of dead instances, and this instance's own lost holds $3. */
const IS_ORPHANED = `(${IS_DEAD} OR instance_id = $1::uuid AND request_id = ANY ($3::uuid[]))`;

/** Selects up to $4 tenants with orphaned holds. */
const TENANTS_TO_SWEEP = `
  SELECT DISTINCT tenant_id FROM holds WHERE ${IS_ORPHANED} ORDER BY tenant_id LIMIT $4`;

/**
 * Ends the orphaned holds of the tenants $4, whose accounts must be locked, and writes their log rows.
 * Returns one row per hold.
 */
const SWEEP_HOLDS = `
  WITH ended AS (
    DELETE FROM holds WHERE tenant_id = ANY ($4::uuid[]) AND ${IS_ORPHANED}
    RETURNING *
  ), written AS (
    INSERT INTO request_logs (
      request_id, tenant_id, api_key_id, endpoint, model, provider, status, outcome, error_type,
      traffic_mode, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens,
      reasoning_tokens, usage_source, cost, model_charge, byok_platform_fee, managed_tool_fee,
      streamed, latency_ms, generation_time_ms, created_at
    )
    SELECT request_id, tenant_id, api_key_id, endpoint, model, provider, 'error', 'crashed',
      'internal_error', 'shared', 0, 0, 0, 0, 0, 'none', 0, 0, 0, 0, streamed,
      least(greatest(extract(epoch FROM now() - created_at) * 1000, 0), 2147483647)::integer,
      0, created_at
    FROM ended
    ON CONFLICT (request_id) DO NOTHING
    RETURNING tenant_id, api_key_id, created_at
  ), used_keys AS (
    UPDATE api_keys SET
      request_count = api_keys.request_count + used.requests,
      last_used_at = greatest(api_keys.last_used_at, used.last_used_at)
    FROM (
      SELECT api_key_id, count(*) AS requests, max(created_at) AS last_used_at
      FROM written GROUP BY api_key_id
    ) AS used
    WHERE api_keys.id = used.api_key_id
  ), totals AS MATERIALIZED (
    SELECT tenant_id, count(*) AS requests FROM written GROUP BY tenant_id
  ), months AS (
    INSERT INTO account_months AS month (tenant_id, month, request_count)
    SELECT tenant_id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, requests FROM totals
    ON CONFLICT (tenant_id, month) DO UPDATE SET
      request_count = month.request_count + excluded.request_count
  ), released AS (
    UPDATE accounts SET
      held = accounts.held - freed.credits,
      request_count = accounts.request_count + coalesce(totals.requests, 0)
    FROM (SELECT tenant_id, sum(amount)::bigint AS credits FROM ended GROUP BY tenant_id) AS freed
      LEFT JOIN totals ON totals.tenant_id = freed.tenant_id
    WHERE accounts.tenant_id = freed.tenant_id
  )
  SELECT tenant_id FROM ended`;

const SHORT_LOCKS = 'SET LOCAL lock_timeout = 1000';
const LOCK_ACCOUNTS =
  'SELECT FROM accounts WHERE tenant_id = ANY ($1::uuid[]) ORDER BY tenant_id FOR UPDATE';

const IS_DEAD_INSTANCE = `
  id <> $1::uuid AND heartbeat_at <= now() - make_interval(secs => $2)`;

/** Unregisters dead instances; one that is alive after all registers again. */
const SWEEP_INSTANCES = `DELETE FROM instances WHERE ${IS_DEAD_INSTANCE}`;

/** Selects the holds of this instance, $1. */
const OWN_HOLDS = 'SELECT request_id FROM holds WHERE instance_id = $1::uuid';

/** True when there is anything to sweep. Own holds older than a minute are worth checking. */
const IS_DUE = `
  EXISTS (SELECT FROM holds WHERE ${IS_DEAD})
  OR EXISTS (${OWN_HOLDS} AND created_at < now() - interval '1 minute')
  OR EXISTS (SELECT FROM instances WHERE ${IS_DEAD_INSTANCE}) OR ${ARE_UNCOUNTED}`;

/**
 * After a database outage every heartbeat is old, so the first instance to reconnect must give the
 * others time to do the same.
 */
const STEADY_BEFORE_SWEEP_MS = 10_000;
/** Accounts that one transaction locks. */
const MAX_TENANTS = 200;

interface SweepOptions {
  /** True where no other process can use the database, for example an embedded one at start. */
  assumeOthersDead: boolean;
}

/**
 * Releases holds of dead processes: their tenants get the credits back within 30 s, and each request a
 * log row with the outcome `crashed` and no cost. Any number of instances may sweep at once.
 *
 * Also releases this process's own holds without a request: a statement may reach the database long
 * after it was reported as failed, and a settlement may have been lost.
 */
@Injectable()
export class HoldSweeperService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(HoldSweeperService.name);
  /** Holds released by this process, mostly of others. */
  swept = 0;
  private readonly timer = new SweepTimer(
    () => this.sweepIfSteady(),
    (error) => this.logger.warn(`hold sweep failed: ${describeError(error)}`),
  );

  constructor(
    private readonly database: Database,
    private readonly instance: InstanceService,
    private readonly dueWork: DueWork,
  ) {}

  onApplicationBootstrap(): void {
    const isDue = IS_DUE.replaceAll('$1', `'${this.instance.id}'`);
    this.dueWork.watch(isDue.replaceAll('$2', String(DEAD_AFTER_SECONDS)), this.timer);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Returns the number of released holds. */
  async sweepNow({ assumeOthersDead }: SweepOptions): Promise<number> {
    const dead = [this.instance.id, assumeOthersDead ? 0 : DEAD_AFTER_SECONDS];
    const orphaned = [...dead, await this.findLost()];
    let released = 0;
    for (;;) {
      const { rows } = await this.database.query<{ tenant_id: string }>(TENANTS_TO_SWEEP, [
        ...orphaned,
        MAX_TENANTS,
      ]);
      if (rows.length === 0) break;
      released += await this.sweep(
        rows.map((row) => row.tenant_id),
        orphaned,
      );
    }
    await this.database.query(SWEEP_INSTANCES, dead);
    this.swept += released;
    if (released > 0) this.logger.warn(`orphaned holds released: ${released}`);
    return released;
  }

  /**
   * Counts requests that ended over an hour ago toward budgets without a request since. Later, the log
   * may have lost their rows.
   */
  async countNow(): Promise<void> {
    for (;;) {
      const { rows } = await this.database.query<Pick<UseRow, 'tenant_id' | 'scope' | 'subject'>>(
        UNCOUNTED,
        [MAX_TENANTS],
      );
      if (rows.length === 0) return;
      const tenantIds = rows.map(({ tenant_id: id }) => id);
      await this.database.transaction(async (client) => {
        await client.query(LOCK_ACCOUNTS, [tenantIds]);
        const subjects = [rows.map(({ scope }) => scope), rows.map(({ subject }) => subject)];
        await client.query(COUNT_USE.text, [tenantIds, ...subjects]);
      });
    }
  }

  /**
   * @param tenantIds tenants whose accounts are locked together, or one by one if one is locked elsewhere
   * @throws Error when an account stays locked; holds of the others are released all the same
   */
  private async sweep(tenantIds: readonly string[], orphaned: readonly unknown[]): Promise<number> {
    try {
      return await this.database.transaction(async (client) => {
        await client.query(SHORT_LOCKS);
        await client.query(LOCK_ACCOUNTS, [tenantIds]);
        const swept = await client.query(SWEEP_HOLDS, [...orphaned, tenantIds]);
        return swept.rowCount ?? 0;
      });
    } catch (error) {
      if (classifyFailure(error) !== 'locked' || tenantIds.length === 1) throw error;
    }
    let released = 0;
    let failure: unknown;
    for (const tenantId of tenantIds) {
      await this.sweep([tenantId], orphaned).then(
        (count) => (released += count),
        (error: unknown) => (failure = error),
      );
    }
    if (failure) throw toError(failure);
    return released;
  }

  /** Returns the requests with a hold of this process that it does not track. */
  private async findLost(): Promise<string[]> {
    const { id, holds } = this.instance;
    const { rows } = await this.database.query<{ request_id: string }>(OWN_HOLDS, [id]);
    return rows.map((row) => row.request_id).filter((requestId) => !holds.has(requestId));
  }

  private async sweepIfSteady(): Promise<void> {
    if (this.instance.steadyForMs < STEADY_BEFORE_SWEEP_MS) return;
    await this.sweepNow({ assumeOthersDead: false });
    await this.countNow();
  }
}
