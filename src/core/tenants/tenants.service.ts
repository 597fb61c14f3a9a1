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

/** A tenant that the bootstrap settings declare. */
export interface DeclaredTenant extends Tenant {
  isDeleted: boolean;
}

/** A tenant with its account. Amounts are credits. */
export interface TenantWithBalance extends Tenant {
  balance: number;
  held: number;
  spent: number;
  keyCount: number;
  createdAt: Date;
}

export const TENANT_STATUSES = ['active', 'suspended', 'deleted'] as const;
export type TenantStatus = (typeof TENANT_STATUSES)[number];

/** A tenant as operators see it. Amounts are credits. */
export interface TenantRecord extends TenantWithBalance {
  status: TenantStatus;
  /** Null when not suspended; likewise for the next two. */
  suspendedAt: Date | null;
  deletedAt: Date | null;
  /** When the last personal data of the deleted tenant was erased. */
  erasedAt: Date | null;
  monthlySpendLimit: number | null;
  /** In the current calendar month (UTC). */
  spentThisMonth: number;
  /** Log rows of all time. */
  requestCount: number;
}

/** Sort keys of the tenant list with their SQL types. */
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
  /** Case-insensitive part of the name; undefined for all. */
  search?: string;
  /** Undefined for all but deleted ones. */
  status?: TenantStatus;
  sort: TenantSort;
  descending: boolean;
  /** Sort value and id of the previous page's last tenant. */
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

/** Stores tenants. Callers write the audit rows. */
@Injectable()
export class TenantsService {
  constructor(
    @InjectRepository(TenantEntity) private readonly tenants: Repository<TenantEntity>,
    private readonly database: Database,
  ) {}

  /**
   * Creates a tenant with an empty account.
   *
   * @returns undefined when the name is taken
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
   * Sets the tenant's limit per calendar month in credits; null for no limit.
   *
   * @returns the previous limit
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

  /** Returns the tenant with this name, else the one created under it, even if renamed or deleted since. */
  async findDeclared(name: string, executor: SqlExecutor): Promise<DeclaredTenant | undefined> {
    const { rows } = await executor.query<DeclaredTenant>(
      `SELECT id, name, deleted_at IS NOT NULL AS "isDeleted" FROM tenants
       WHERE name = $1 OR first_name_hash = sha256(convert_to($1, 'UTF8'))
       ORDER BY name = $1 DESC, created_at LIMIT 1`,
      [toStoredText(name)],
    );
    return rows[0] && { ...rows[0], name: fromStoredText(rows[0].name) };
  }

  /** @returns false when the name is taken */
  async rename(id: string, name: string, transaction: SqlExecutor): Promise<boolean> {
    const { rowCount } = await transaction.query(
      `UPDATE tenants SET name = $2,
         first_name_hash = coalesce(first_name_hash, sha256(convert_to(name, 'UTF8')))
       WHERE id = $1 AND NOT EXISTS (SELECT FROM tenants WHERE name = $2 AND id <> $1)`,
      [id, toStoredText(name)],
    );
    return rowCount === 1;
  }

  /** Suspends or resumes a tenant. Applies to its keys within a second. */
  async setSuspended(id: string, isSuspended: boolean, transaction: SqlExecutor): Promise<void> {
    const suspendedAt = isSuspended ? () => 'coalesce(suspended_at, now())' : null;
    await this.within(transaction).update({ id }, { suspendedAt });
  }

  /** Returns a tenant, also a deleted one; undefined when it is unknown. */
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

  /** Returns a page of tenants, each with its sort value as a cursor. */
  async page(query: TenantPageQuery): Promise<(TenantRecord & { place: string })[]> {
    const { by, type } = SORTS[query.sort];
    // Microseconds, since the list is sorted by them.
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

  /** Returns all tenants, oldest first. */
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

/** Returns an ILIKE pattern for names that contain the text. */
function patternOf(search: string): string {
  return `%${toStoredText(search).replace(/[\\%_]/g, '\\$&')}%`;
}
