import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import {
  RATE_LIMITS,
  renewalOf,
  strictestRates,
  type Limits,
  type LimitScope,
} from '../../canonical/limits.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { Author } from '../access/author.js';
import { EndUserLimitsEntity } from '../access/end-user-limits.entity.js';
import { EndUserLimits } from '../access/end-user-limits.service.js';
import { TenantEntity } from '../tenants/tenant.entity.js';
import { AuditLog } from '../audit/audit-log.js';
import { BudgetReader, type BudgetUse } from '../ledger/budget.reader.js';
import type { BothLimitsDto, LimitsStateDto } from './limits.dto.js';

/** Author of a set of limits; both sets apply. */
export type LimitsSetter = 'tenant' | 'operator';

/** A tenant or key with its limits. */
export interface BothLimits {
  readonly id: string;
  readonly limits: Limits | null;
  readonly operatorLimits: Limits | null;
}

const COLUMNS = { tenant: 'limits', operator: 'operator_limits' } as const;
const LOCK = { mode: 'pessimistic_write' } as const;
const TABLES = { tenant: 'tenants', api_key: 'api_keys' } as const;

/** Manages the limits of tenants, keys and end users. */
@Injectable()
export class LimitsService {
  constructor(
    @InjectRepository(TenantEntity) private readonly tenants: Repository<TenantEntity>,
    @InjectRepository(EndUserLimitsEntity)
    private readonly ownLimits: Repository<EndUserLimitsEntity>,
    private readonly database: Database,
    private readonly uses: BudgetReader,
    private readonly endUsers: EndUserLimits,
    private readonly audit: AuditLog,
  ) {}

  /** Returns a tenant's limits; undefined for an unknown tenant. */
  async ofTenant(id: string): Promise<BothLimits | undefined> {
    return this.find('tenant', id);
  }

  /** Returns a key's limits and tenant; undefined for an unknown key or a deleted tenant. */
  async ofKey(id: string): Promise<(BothLimits & { tenantId: string }) | undefined> {
    return this.find('api_key', id);
  }

  /** Returns limits with their current use, in the order of their owners. */
  async describe(
    tenantId: string,
    scope: LimitScope,
    owners: readonly BothLimits[],
  ): Promise<BothLimitsDto[]> {
    const withBudgets = owners.filter(
      ({ limits, operatorLimits }) => limits?.budgets ?? operatorLimits?.budgets,
    );
    const subjects = withBudgets.map(({ id }) => ({ scope, id }));
    const uses = await this.uses.useOf(tenantId, subjects);
    const byId = new Map(withBudgets.map(({ id }, index) => [id, uses[index]]));
    return owners.map(({ id, limits, operatorLimits }) => ({
      limits: toState(limits, byId.get(id)),
      operator_limits: toState(operatorLimits, byId.get(id)),
    }));
  }

  /**
   * Replaces the limits of a tenant or key, on every instance within a second.
   *
   * @param transaction default: a new one
   */
  async set(
    author: Author,
    scope: keyof typeof TABLES,
    owner: { readonly tenantId: string; readonly id: string },
    setter: LimitsSetter,
    limits: Limits | null,
    transaction?: SqlExecutor,
  ): Promise<void> {
    if (!transaction) {
      return this.database.transaction((client) =>
        this.set(author, scope, owner, setter, limits, client),
      );
    }
    const [table, column] = [TABLES[scope], COLUMNS[setter]];
    const { rows } = await transaction.query<{ before: Limits | null }>(
      `SELECT ${column} AS before FROM ${table} WHERE id = $1 FOR UPDATE`,
      [owner.id],
    );
    await transaction.query(`UPDATE ${table} SET ${column} = $2 WHERE id = $1`, [
      owner.id,
      toStored(limits),
    ]);
    await this.record(transaction, author, owner.tenantId, `${scope}.set_limits`, owner.id, {
      before: { [column]: rows[0]?.before ?? null },
      after: { [column]: limits },
    });
  }

  /** Returns the limits of end users without their own. */
  async ofEachEndUser(tenantId: string): Promise<Limits | null> {
    return (await this.tenants.findOneBy({ id: tenantId }))?.endUserLimits ?? null;
  }

  async setForEachEndUser(author: Author, tenantId: string, limits: Limits | null): Promise<void> {
    await this.database.transaction(async (client) => {
      const tenants = this.database.within(client, this.tenants);
      const before = await tenants.findOne({ where: { id: tenantId }, lock: LOCK });
      await tenants.update({ id: tenantId }, { endUserLimits: limits });
      await this.record(client, author, tenantId, 'tenant.set_end_user_limits', tenantId, {
        before: { end_user_limits: before?.endUserLimits ?? null },
        after: { end_user_limits: limits },
      });
    });
  }

  /**
   * @param limits null removes the end user's own limits, so that the default ones apply
   */
  async setForEndUser(
    author: Author,
    tenantId: string,
    endUser: string,
    limits: Limits | null,
  ): Promise<void> {
    const id = { tenantId, endUser };
    await this.database.transaction(async (client) => {
      const ownLimits = this.database.within(client, this.ownLimits);
      const known = await ownLimits.findOne({ where: id, lock: LOCK });
      if (limits)
        await ownLimits.upsert({ ...id, limits, updatedAt: () => 'now()' }, [
          'tenantId',
          'endUser',
        ]);
      else await ownLimits.delete(id);
      const before = known && { limits: known.limits };
      const after = limits && { limits };
      await this.record(client, author, tenantId, 'end_user.set_limits', endUser, {
        before,
        after,
      });
    });
    this.endUsers.forget(tenantId, endUser);
  }

  /**
   * Lists end users with their own limits or with usage, by name.
   *
   * @param after last name of the previous page, as stored
   * @returns names as stored, and own limits
   */
  async listEndUsers(
    tenantId: string,
    { limit, after, only }: { limit: number; after?: string | undefined; only?: string },
  ): Promise<{ id: string; limits: Limits | null }[]> {
    const { rows } = await this.database.query<{ id: string; limits: Limits | null }>(
      `SELECT name AS id, end_user_limits.limits FROM (
         SELECT end_user AS name FROM end_user_limits WHERE tenant_id = $1
         UNION SELECT subject FROM budget_spend WHERE tenant_id = $1 AND scope = 'end_user'
         UNION SELECT subject FROM limit_holds WHERE tenant_id = $1 AND scope = 'end_user'
       ) AS names LEFT JOIN end_user_limits ON tenant_id = $1 AND end_user = name
       WHERE ($2::text IS NULL OR name COLLATE "C" > $2) AND ($4::text IS NULL OR name = $4)
       ORDER BY name COLLATE "C" LIMIT $3`,
      [tenantId, after ?? null, limit, only ?? null],
    );
    return rows;
  }

  private async find(
    scope: keyof typeof TABLES,
    id: string,
  ): Promise<(BothLimits & { tenantId: string }) | undefined> {
    const tenantId = scope === 'tenant' ? 'id' : 'tenant_id';
    const { rows } = await this.database.query<BothLimits & { tenantId: string }>(
      `SELECT id, ${tenantId} AS "tenantId", limits, operator_limits AS "operatorLimits"
         FROM ${TABLES[scope]} AS owner WHERE id = $1
          AND EXISTS (SELECT FROM tenants WHERE tenants.id = owner.${tenantId} AND deleted_at IS NULL)`,
      [id],
    );
    return rows[0];
  }

  private record(
    client: SqlExecutor,
    author: Author,
    tenantId: string,
    action: string,
    id: string,
    change: { before: JsonObject | null; after: JsonObject | null },
  ): Promise<void> {
    const [type = ''] = action.split('.');
    return this.audit.record(client, author, { tenantId, action, target: { type, id }, ...change });
  }
}

/**
 * Returns limits with their current use.
 *
 * @param use undefined without budgets
 */
export function toState(limits: Limits | null, use: BudgetUse | undefined): LimitsStateDto {
  const rates = limits ? strictestRates([limits]) : {};
  const [requests, tokens, open] = RATE_LIMITS.map((rate) => rates[rate] ?? null);
  return {
    budgets: (use ? (limits?.budgets ?? []) : []).map(({ period, credits }) => ({
      period,
      credits,
      spent: use![period],
      held: use!.held,
      remaining: Math.max(0, credits - use![period] - use!.held),
      renews_at: renewalOf(period, use!.now)?.toISOString() ?? null,
    })),
    requests_per_minute: requests ?? null,
    tokens_per_minute: tokens ?? null,
    max_in_flight: open ?? null,
    models: limits?.models ?? null,
    providers: limits?.providers ?? null,
  };
}

function toStored(limits: Limits | null): string | null {
  return limits && JSON.stringify(limits);
}
