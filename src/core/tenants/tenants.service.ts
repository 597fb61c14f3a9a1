import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { TenantEntity } from './tenant.entity.js';

export interface Tenant {
  id: string;
  name: string;
}

/** A tenant that the settings declare. */
export interface DeclaredTenant extends Tenant {
  isDeleted: boolean;
}

/** A tenant and its money, in credits. */
export interface TenantWithBalance extends Tenant {
  balance: number;
  held: number;
  spent: number;
  keyCount: number;
  createdAt: Date;
}

export const TENANT_STATUSES = ['active', 'suspended', 'deleted'] as const;
export type TenantStatus = (typeof TENANT_STATUSES)[number];

/** All that operators see of a tenant. Amounts are credits. */
export interface TenantRecord extends TenantWithBalance {
  status: TenantStatus;
  /** Null where it is not suspended; likewise below. */
  suspendedAt: Date | null;
  deletedAt: Date | null;
  /** When nothing of a deleted tenant told of a person any more. */
  erasedAt: Date | null;
  monthlySpendLimit: number | null;
  /** Since the calendar month (UTC) began. */
  spentThisMonth: number;
  /** Log rows of all time. */
  requestCount: number;
}

/** By what a list of tenants may be sorted, and of which type that is. */
const SORTS = {
  name: { by: 'tenants.name', type: 'text' },
  created_at: { by: 'tenants.created_at', type: 'timestamptz' },
  balance: { by: 'coalesce(accounts.balance, 0)', type: 'bigint' },
  spent: { by: 'coalesce(accounts.spent, 0)', type: 'bigint' },
  spent_this_month: { by: 'coalesce(month.spent, 0)', type: 'bigint' },
} as const;
export type TenantSort = keyof typeof SORTS;
export const TENANT_SORTS = Object.keys(SORTS) as [TenantSort, ...TenantSort[]];

export interface TenantPageQuery {
  /** A part of the name, in whatever case; undefined: all. */
  search?: string;
  /** Undefined: all but the deleted ones. */
  status?: TenantStatus;
  sort: TenantSort;
  descending: boolean;
  /** Behind the tenant with this id and this value of the sort. */
  after?: { value: string; id: string };
  limit: number;
}

const RECORD = `
  SELECT tenants.id, tenants.name, tenants.created_at AS "createdAt",
         tenants.suspended_at AS "suspendedAt", tenants.deleted_at AS "deletedAt",
         tenants.erased_at AS "erasedAt", monthly_spend_limit AS "monthlySpendLimit",
         CASE WHEN deleted_at IS NOT NULL THEN 'deleted'
              WHEN suspended_at IS NOT NULL THEN 'suspended' ELSE 'active' END AS status,
         coalesce(accounts.balance, 0) AS balance, coalesce(accounts.held, 0) AS held,
         coalesce(accounts.spent, 0) AS spent,
         coalesce(accounts.request_count, 0) AS "requestCount",
         coalesce(month.spent, 0) AS "spentThisMonth",
         (SELECT count(*) FROM api_keys
           WHERE api_keys.tenant_id = tenants.id AND revoked_at IS NULL) AS "keyCount"`;
const FROM_TENANTS = `
    FROM tenants LEFT JOIN accounts ON accounts.tenant_id = tenants.id
    LEFT JOIN account_months AS month ON month.tenant_id = tenants.id
      AND month.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date`;

/** Tenants in the database: made, found, listed, renamed, suspended, with what they may spend in a month. */
@Injectable()
export class TenantsService {
  constructor(
    @InjectRepository(TenantEntity) private readonly tenants: Repository<TenantEntity>,
    private readonly database: Database,
  ) {}

  /**
   * Makes a tenant with its empty account. To be called in a transaction, which the caller also
   * needs for the first grant and keys.
   * @returns undefined when there is a tenant of this name already.
   */
  async create(name: string, transaction: SqlExecutor): Promise<Tenant | undefined> {
    const { identifiers } = await this.within(transaction)
      .createQueryBuilder()
      .insert()
      .values({ name })
      .orIgnore()
      .execute();
    const id = identifiers[0]?.id as string | undefined;
    if (id === undefined) return undefined;
    await transaction.query(`INSERT INTO accounts (tenant_id) VALUES ($1)`, [id]);
    return { id, name };
  }

  async findByName(name: string): Promise<Tenant | undefined> {
    const tenant = await this.tenants.findOneBy({ name });
    return tenant ? { id: tenant.id, name } : undefined;
  }

  async nameOf(id: string, executor: SqlExecutor = this.database): Promise<string | undefined> {
    return (await this.within(executor).findOneBy({ id }))?.name;
  }

  /**
   * Sets what the tenant may spend in a calendar month, in credits; null: no limit.
   *
   * @returns what it was before
   */
  async setMonthlySpendLimit(
    id: string,
    credits: number | null,
    executor: SqlExecutor = this.database,
  ): Promise<number | null> {
    const { rows } = await executor.query<{ before: number | null }>(
      `UPDATE tenants SET monthly_spend_limit = $2
         FROM (SELECT id, monthly_spend_limit AS before FROM tenants WHERE id = $1 FOR UPDATE) was
        WHERE tenants.id = was.id RETURNING was.before`,
      [id, credits],
    );
    return rows[0]?.before ?? null;
  }

  /** The tenant that was made under this name, whatever became of it; else the one that has it. */
  async findDeclared(name: string, executor: SqlExecutor): Promise<DeclaredTenant | undefined> {
    const { rows } = await executor.query<DeclaredTenant>(
      `SELECT id, name, deleted_at IS NOT NULL AS "isDeleted" FROM tenants
       WHERE name = $1 OR first_name_hash = sha256(convert_to($1, 'UTF8'))
       ORDER BY name = $1 DESC, created_at LIMIT 1`,
      [toStoredText(name)],
    );
    return rows[0] && { ...rows[0], name: fromStoredText(rows[0].name) };
  }

  /** @returns false when another tenant has this name */
  async rename(id: string, name: string, transaction: SqlExecutor): Promise<boolean> {
    const { rowCount } = await transaction.query(
      `UPDATE tenants SET name = $2,
         first_name_hash = coalesce(first_name_hash, sha256(convert_to(name, 'UTF8')))
       WHERE id = $1 AND NOT EXISTS (SELECT FROM tenants WHERE name = $2 AND id <> $1)`,
      [id, toStoredText(name)],
    );
    return rowCount === 1;
  }

  /** From within a second on its keys read and do nothing else, or do again what they may. */
  async setSuspended(id: string, isSuspended: boolean, transaction: SqlExecutor): Promise<void> {
    const suspendedAt = isSuspended ? () => 'coalesce(suspended_at, now())' : null;
    await this.within(transaction).update({ id }, { suspendedAt });
  }

  /** Undefined: there is no such tenant. A deleted one is there. */
  async find(
    id: string,
    executor: SqlExecutor = this.database,
    lock?: 'FOR NO KEY UPDATE',
  ): Promise<TenantRecord | undefined> {
    if (lock) await executor.query(`SELECT FROM tenants WHERE id = $1 ${lock}`, [id]);
    const { rows } = await executor.query<TenantRecord>(
      `${RECORD} ${FROM_TENANTS} WHERE tenants.id = $1`,
      [id],
    );
    return rows[0] && { ...rows[0], name: fromStoredText(rows[0].name) };
  }

  /** A page of tenants, each with where the page behind it begins. */
  async page(query: TenantPageQuery): Promise<(TenantRecord & { place: string })[]> {
    const { by, type } = SORTS[query.sort];
    // Times to the microsecond, as the list is sorted by those.
    const place =
      type === 'timestamptz'
        ? `to_char(${by} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
        : `(${by})::text`;
    const [order, behind] = query.descending ? ['DESC', '<'] : ['ASC', '>'];
    const { rows } = await this.database.query<TenantRecord & { place: string }>(
      `${RECORD}, ${place} AS place ${FROM_TENANTS}
        WHERE ($1::text IS NULL OR tenants.name ILIKE $1)
          AND CASE $2::text WHEN 'deleted' THEN deleted_at IS NOT NULL
                WHEN 'suspended' THEN deleted_at IS NULL AND suspended_at IS NOT NULL
                WHEN 'active' THEN deleted_at IS NULL AND suspended_at IS NULL
                ELSE deleted_at IS NULL END
          AND ($4::uuid IS NULL OR (${by}, tenants.id) ${behind} ($3::${type}, $4::uuid))
        ORDER BY ${by} ${order}, tenants.id ${order} LIMIT $5`,
      [
        query.search === undefined ? null : patternOf(query.search),
        query.status ?? null,
        query.after?.value ?? null,
        query.after?.id ?? null,
        query.limit,
      ],
    );
    return rows.map((row) => ({ ...row, name: fromStoredText(row.name) }));
  }

  /** Oldest first. */
  async list(): Promise<TenantWithBalance[]> {
    const { rows } = await this.database.query<TenantWithBalance>(
      `SELECT tenants.id, tenants.name, tenants.created_at AS "createdAt",
              coalesce(accounts.balance, 0) AS balance, coalesce(accounts.held, 0) AS held,
              coalesce(accounts.spent, 0) AS spent,
              (SELECT count(*) FROM api_keys WHERE api_keys.tenant_id = tenants.id) AS "keyCount"
         FROM tenants LEFT JOIN accounts ON accounts.tenant_id = tenants.id
        ORDER BY tenants.created_at, tenants.name`,
    );
    return rows.map((row) => ({ ...row, name: fromStoredText(row.name) }));
  }

  private within(executor: SqlExecutor): Repository<TenantEntity> {
    return this.database.within(executor, this.tenants);
  }
}

/** For ILIKE: names that have the text in them. */
function patternOf(search: string): string {
  return `%${toStoredText(search).replace(/[\\%_]/g, '\\$&')}%`;
}
