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
import { TenantsService, type TenantRecord } from '../../../core/tenants/tenants.service.js';
import { AuditLog } from '../../../core/audit/audit-log.js';
import { auditedEntry, GrantsService } from '../../../core/ledger/grants.service.js';
import { Database } from '../../../platform/database/database.js';
import { ConflictError } from '../../../platform/errors/gateway-errors.js';
import { messageOf } from '../../../platform/errors/thrown.js';
import { SweepTimer } from '../../../platform/time/sweep-timer.js';
import { ERASED, LOG_CORRECTIONS, LOG_ROWS, LOG_SUMS } from './tenant-data.js';
import { ofTenant, TenantsAdmin } from './tenants.service.js';

/**
 * Every instance knows of a suspension within a second, and earlier requests have a hold by then.
 */
const SUSPENDED_FOR_MS = 2_000;

/** Log rows per transaction. */
const PIECE = 5_000;
const LOOK_EVERY_MS = 60_000;

/**
 * Deletes tenants by anonymizing them. Ledger and log rows stay, since the books refer to them.
 * The log can have millions of rows, so it is anonymized in batches by any instance.
 */
@Injectable()
export class TenantEraser implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(TenantEraser.name);
  private readonly timer = new SweepTimer(
    () => this.eraseLogs(),
    (error) => this.logger.warn(`log erasure postponed: ${messageOf(error)}`),
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

  /** Starts anonymizing logs in the background. */
  beginLogs(): void {
    this.timer.tick();
  }

  /** Anonymizes remaining logs of deleted tenants. */
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
   * Deletes everything except the log in one transaction. Idempotent.
   * @throws NotFoundError (`tenant_id`)
   * @throws ConflictError (`tenant_id`) when it has not been suspended for a few seconds, or has
   * open requests or jobs
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

  /** A ledger entry removes the remaining balance, so that the books still add up. */
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
 * Blocks concurrent work of the tenant. Locks the account first, like everything that moves its
 * money.
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
      'Only suspended tenants can be deleted. Suspend it first: PATCH it with {"status": "suspended"}.',
    );
  }
  if (!isSettled) {
    throw new ConflictError(
      'tenant_id',
      `The tenant was suspended just now, and other instances may not know yet. Retry in ${SUSPENDED_FOR_MS / 1_000} s.`,
    );
  }
  if (holds + jobs > 0) {
    throw new ConflictError(
      'tenant_id',
      `The tenant has work in progress: ${holds} open holds and ${jobs} jobs or background responses. Retry when they have ended.`,
    );
  }
}
