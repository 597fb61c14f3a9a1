import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { Author } from '../../../core/access/author.js';
import { ApiKeyRepository } from '../../../core/access/api-key.repository.js';
import { KeyDirectory } from '../../../core/access/key-directory.service.js';
import { TenantsService, type TenantRecord } from '../../../core/access/tenants.service.js';
import { AuditLog } from '../../../core/audit/audit-log.js';
import { auditedEntry, GrantsService } from '../../../core/ledger/grants.service.js';
import { Database } from '../../../platform/database/database.js';
import { ConflictError } from '../../../platform/errors/gateway-errors.js';
import { messageOf } from '../../../platform/errors/thrown.js';
import { SweepTimer } from '../../../platform/time/sweep-timer.js';
import { ERASED, LOG_CORRECTIONS, LOG_ROWS, LOG_SUMS } from './tenant-data.js';
import { ofTenant, TenantsAdmin } from './tenants.service.js';

/** Within a second every instance knows that a tenant is suspended; what came before has a hold by then. */
const SUSPENDED_FOR_MS = 2_000;

/** Log rows that one transaction empties. */
const PIECE = 5_000;
const LOOK_EVERY_MS = 60_000;

/**
 * Deletes tenants by making them anonymous. Their rows stay, because the books refer to them. Their log may
 * have millions, which are emptied piece by piece, by whichever instances are at it.
 */
@Injectable()
export class TenantEraser implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(TenantEraser.name);
  private readonly timer = new SweepTimer(
    () => this.eraseLogs(),
    (error) => this.logger.warn(`Logs of deleted tenants are emptied later: ${messageOf(error)}`),
  );

  constructor(
    private readonly database: Database,
    private readonly tenants: TenantsAdmin,
    private readonly rows: TenantsService,
    private readonly apiKeys: ApiKeyRepository,
    private readonly directory: KeyDirectory,
    private readonly grants: GrantsService,
    private readonly audit: AuditLog,
  ) {}

  onApplicationBootstrap(): void {
    this.timer.startLater(LOOK_EVERY_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Has the logs of deleted tenants emptied from now on, with nobody waiting for it. */
  beginLogs(): void {
    this.timer.tick();
  }

  /** Empties the logs of tenants that were deleted, as far as that has not been done. */
  async eraseLogs(): Promise<void> {
    const { rows } = await this.database.query<{ id: string }>(
      'SELECT id FROM tenants WHERE deleted_at IS NOT NULL AND erased_at IS NULL ORDER BY deleted_at',
    );
    for (const { id } of rows) await this.eraseLogOf(id);
  }

  private async eraseLogOf(tenantId: string): Promise<void> {
    let place: { at: string; id: string } | undefined = { at: 'infinity', id: '0' };
    while (place && !this.timer.isStopped) place = await this.erasePiece(tenantId, place);
    if (place) return;
    await this.database.transaction(async (client) => {
      for (const statement of LOG_SUMS) await client.query(statement, [tenantId]);
    });
    await this.database.query('UPDATE tenants SET erased_at = now() WHERE id = $1', [tenantId]);
  }

  private erasePiece(
    tenantId: string,
    { at, id }: { at: string; id: string },
  ): Promise<{ at: string; id: string } | undefined> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<{ at: string; id: string }>(LOG_ROWS, [
        tenantId,
        at,
        id,
        PIECE,
      ]);
      await client.query(LOG_CORRECTIONS, [tenantId]);
      return rows[0];
    });
  }

  /**
   * All but the log at once or nothing. Deleting again is no error.
   *
   * @throws NotFoundError (`tenant_id`)
   * @throws ConflictError (`tenant_id`) for one that is not suspended since some seconds, or that has
   *   open requests or jobs
   */
  async delete(author: Author, id: string): Promise<TenantRecord> {
    const known = await this.tenants.find(id);
    if (known.status === 'deleted') return known;
    await this.database.transaction(async (client) => {
      const tenant = await this.tenants.lock(client, id);
      await refuseAtWork(client, tenant);
      await this.takeRest(client, author, id);
      for (const statement of Object.values(ERASED)) await client.query(statement, [id]);
      await this.rows.rename(id, `deleted ${id}`, client);
      await client.query(
        `UPDATE tenants SET deleted_at = now(), monthly_spend_limit = NULL, limits = NULL,
           operator_limits = NULL, end_user_limits = NULL, content_log = NULL
         WHERE id = $1`,
        [id],
      );
      await this.audit.record(client, author, {
        ...ofTenant(id, 'delete'),
        before: { status: tenant.status },
        after: { status: 'deleted' },
      });
    });
    for (const key of await this.apiKeys.listOfTenant(id)) this.directory.forget(key.id);
    return this.tenants.find(id);
  }

  /** What nobody will spend is taken by an entry of its own, so that the books go on adding up. */
  private async takeRest(client: PoolClient, author: Author, tenantId: string): Promise<void> {
    const { rows } = await client.query<{ balance: number }>(
      'SELECT balance FROM accounts WHERE tenant_id = $1',
      [tenantId],
    );
    const balance = rows[0]?.balance ?? 0;
    if (balance === 0) return;
    const memo = 'The tenant was deleted.';
    const entry = await this.grants.correctWithin(client, tenantId, -balance, memo);
    await this.audit.record(client, author, auditedEntry(tenantId, entry));
  }
}

/**
 * Nothing of a tenant may begin or end while it goes. The account's lock is taken first, as by all that
 * moves its money.
 */
async function refuseAtWork(client: PoolClient, tenant: TenantRecord): Promise<void> {
  const { id, suspendedAt } = tenant;
  await client.query('SELECT FROM accounts WHERE tenant_id = $1 FOR UPDATE', [id]);
  const { rows } = await client.query<{ is_settled: boolean; holds: number; jobs: number }>(
    `SELECT $2::timestamptz < now() - make_interval(secs => $3) AS is_settled,
       (SELECT count(*) FROM holds WHERE tenant_id = $1) AS holds,
       (SELECT count(*) FROM jobs WHERE tenant_id = $1
          AND (status IN ('queued', 'in_progress') OR cancel_due))
       + (SELECT count(*) FROM background_responses WHERE tenant_id = $1) AS jobs`,
    [id, suspendedAt, SUSPENDED_FOR_MS / 1_000],
  );
  const { is_settled: isSettled, holds, jobs } = rows[0]!;
  if (suspendedAt === null) {
    throw new ConflictError(
      'tenant_id',
      'Only a suspended tenant can be deleted. Suspend it first: PATCH it with {"status": "suspended"}.',
    );
  }
  if (!isSettled) {
    throw new ConflictError(
      'tenant_id',
      `The tenant was suspended just now, and not every instance may know yet. Delete it in ${SUSPENDED_FOR_MS / 1_000} seconds.`,
    );
  }
  if (holds + jobs > 0) {
    throw new ConflictError(
      'tenant_id',
      `Work of the tenant is under way: ${holds} open holds, and ${jobs} jobs or responses in the background. Delete it when they have ended.`,
    );
  }
}
