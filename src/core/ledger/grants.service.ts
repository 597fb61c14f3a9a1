import { Injectable } from '@nestjs/common';
import pg, { type Pool, type PoolClient } from 'pg';
import { Database } from '../../platform/database/database.js';
import { InvalidRequestError, NotFoundError } from '../../platform/errors/gateway-errors.js';

const FOREIGN_KEY_VIOLATION = '23503';

/** Credits given to tenants by the operator. */
@Injectable()
export class GrantsService {
  constructor(private readonly database: Database) {}

  /**
   * Adds credits to a tenant's balance, by a ledger entry of its own. Throws InvalidRequestError
   * unless `credits` is a positive integer that keeps the tenant's totals below 2^53, and
   * NotFoundError when there is no such tenant.
   */
  grant(tenantId: string, credits: number): Promise<void> {
    return this.grantWithin(this.database.pool, tenantId, credits);
  }

  /** The same as part of a transaction, such as the one that makes the tenant. */
  async grantWithin(client: Pool | PoolClient, tenantId: string, credits: number): Promise<void> {
    if (!Number.isSafeInteger(credits) || credits <= 0) {
      throw new InvalidRequestError(
        'credits',
        'A grant must be a positive whole number of credits.',
      );
    }
    const { rowCount } = await client
      .query(
        `WITH granted AS (
           INSERT INTO accounts (tenant_id, balance, granted) VALUES ($1, $2::bigint, $2::bigint)
           ON CONFLICT (tenant_id) DO UPDATE SET
             balance = accounts.balance + excluded.balance,
             granted = accounts.granted + excluded.granted
           WHERE greatest(accounts.granted, accounts.balance) <= $3::bigint - excluded.granted
           RETURNING tenant_id
         )
         INSERT INTO ledger_entries (tenant_id, kind, amount)
         SELECT tenant_id, 'grant', $2::bigint FROM granted`,
        [tenantId, credits, Number.MAX_SAFE_INTEGER],
      )
      .catch((error: unknown) => {
        if (error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION) {
          throw new NotFoundError('tenant', 'There is no such tenant.');
        }
        throw error;
      });
    if (rowCount === 0) {
      throw new InvalidRequestError(
        'credits',
        `A tenant can't be granted more than ${Number.MAX_SAFE_INTEGER} credits in all.`,
      );
    }
  }
}
