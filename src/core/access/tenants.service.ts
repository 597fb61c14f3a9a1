import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import type { SqlExecutor } from './api-key.repository.js';

export interface Tenant {
  id: string;
  name: string;
}

/** A tenant and its money, in credits. */
export interface TenantWithBalance extends Tenant {
  balance: number;
  held: number;
  spent: number;
  keyCount: number;
  createdAt: Date;
}

@Injectable()
export class TenantsService {
  constructor(private readonly database: Database) {}

  /**
   * Makes a tenant with its empty account. To be called in a transaction, which the caller also
   * needs for the first grant and keys.
   * @returns undefined when there is a tenant of this name already.
   */
  async create(name: string, transaction: SqlExecutor): Promise<Tenant | undefined> {
    const { rows } = await transaction.query<{ id: string }>(
      `INSERT INTO tenants (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING id`,
      [toStoredText(name)],
    );
    const id = rows[0]?.id;
    if (id === undefined) return undefined;
    await transaction.query(`INSERT INTO accounts (tenant_id) VALUES ($1)`, [id]);
    return { id, name };
  }

  async findByName(
    name: string,
    executor: SqlExecutor = this.database,
  ): Promise<Tenant | undefined> {
    const { rows } = await executor.query<{ id: string }>(
      `SELECT id FROM tenants WHERE name = $1`,
      [toStoredText(name)],
    );
    return rows[0] && { id: rows[0].id, name };
  }

  async nameOf(id: string, executor: SqlExecutor = this.database): Promise<string | undefined> {
    const { rows } = await executor.query<{ name: string }>(
      `SELECT name FROM tenants WHERE id = $1`,
      [id],
    );
    return rows[0] && fromStoredText(rows[0].name);
  }

  /** Sets what the tenant may spend in a calendar month, in credits; null: no limit. */
  async setMonthlySpendLimit(id: string, credits: number | null): Promise<void> {
    await this.database.query('UPDATE tenants SET monthly_spend_limit = $2 WHERE id = $1', [
      id,
      credits,
    ]);
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
}
