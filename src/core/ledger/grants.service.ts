import { Injectable } from '@nestjs/common';
import pg, { type Pool, type PoolClient } from 'pg';
import type { AuditChange } from '../audit/audit-log.js';
import { Database } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import {
  ConflictError,
  InvalidRequestError,
  NotFoundError,
} from '../../platform/errors/gateway-errors.js';

const FOREIGN_KEY_VIOLATION = '23503';

/** What the operator did to a balance; the amount is signed credits. */
export interface OperatorEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly kind: 'grant' | 'correction';
  readonly amount: number;
  readonly memo: string | null;
}

/** What the audit log has of an entry. */
export function auditedEntry(tenantId: string, entry: OperatorEntry): AuditChange {
  return {
    tenantId,
    action: entry.kind === 'grant' ? 'ledger.grant' : 'ledger.correct',
    target: { type: 'ledger_entry', id: entry.id },
    before: null,
    after: { credits: entry.amount, memo: entry.memo },
  };
}

/**
 * Credits that the operator gives, and what it puts right. Both change what the tenant was given in
 * all, and neither is anything that a month has spent.
 */
@Injectable()
export class GrantsService {
  constructor(private readonly database: Database) {}

  /**
   * Adds credits to a tenant's balance, by a ledger entry of its own. Throws InvalidRequestError
   * unless `credits` is a positive integer that keeps the tenant's totals below 2^53, and
   * NotFoundError when there is no such tenant.
   */
  grant(tenantId: string, credits: number): Promise<OperatorEntry> {
    return this.grantWithin(this.database.pool, tenantId, credits);
  }

  /** The same as part of a transaction, such as the one that makes the tenant. */
  async grantWithin(
    client: Pool | PoolClient,
    tenantId: string,
    credits: number,
    memo: string | null = null,
  ): Promise<OperatorEntry> {
    if (!Number.isSafeInteger(credits) || credits <= 0) {
      throw new InvalidRequestError(
        'credits',
        'A grant must be a positive whole number of credits.',
      );
    }
    const { rows } = await client
      .query<EntryRow>(
        `WITH granted AS (
           INSERT INTO accounts (tenant_id, balance, granted) VALUES ($1, $2::bigint, $2::bigint)
           ON CONFLICT (tenant_id) DO UPDATE SET
             balance = accounts.balance + excluded.balance,
             granted = accounts.granted + excluded.granted
           WHERE greatest(accounts.granted, accounts.balance) <= $4::bigint - excluded.granted
           RETURNING tenant_id
         )
         INSERT INTO ledger_entries (tenant_id, kind, amount, memo)
         SELECT tenant_id, 'grant', $2::bigint, $3::text FROM granted ${RETURNING}`,
        [tenantId, credits, storedMemo(memo), Number.MAX_SAFE_INTEGER],
      )
      .catch((error: unknown) => {
        if (error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION) {
          throw new NotFoundError('tenant', 'There is no such tenant.');
        }
        throw error;
      });
    if (rows[0]) return { ...rows[0], kind: 'grant', memo };
    throw new InvalidRequestError(
      'credits',
      `A tenant can't be granted more than ${Number.MAX_SAFE_INTEGER} credits in all.`,
    );
  }

  /**
   * Adds or takes credits by an entry of its own, as part of a transaction. What open holds have set
   * aside is not touched: requests that run end as they would have.
   *
   * @param credits signed, and not 0
   * @throws ConflictError (`credits`) where fewer are available than it takes
   * @throws InvalidRequestError for 0, or what would make the totals larger than a number can say
   */
  async correctWithin(
    client: PoolClient,
    tenantId: string,
    credits: number,
    memo: string | null,
  ): Promise<OperatorEntry> {
    if (!Number.isSafeInteger(credits) || credits === 0) {
      throw new InvalidRequestError(
        'credits',
        'A correction must be a whole number of credits other than 0; a negative one takes them.',
      );
    }
    const { rows } = await client.query<EntryRow>(
      `WITH corrected AS (
         UPDATE accounts SET balance = balance + $2::bigint, granted = granted + $2::bigint
         WHERE tenant_id = $1 AND balance - held + $2::bigint >= 0
           AND greatest(granted, balance)::numeric + $2::bigint <= $4::bigint
         RETURNING tenant_id
       )
       INSERT INTO ledger_entries (tenant_id, kind, amount, memo)
       SELECT tenant_id, 'correction', $2::bigint, $3::text FROM corrected ${RETURNING}`,
      [tenantId, credits, storedMemo(memo), Number.MAX_SAFE_INTEGER],
    );
    if (rows[0]) return { ...rows[0], kind: 'correction', memo };
    if (credits > 0) {
      throw new InvalidRequestError(
        'credits',
        `A tenant can't be given more than ${Number.MAX_SAFE_INTEGER} credits in all.`,
      );
    }
    const { rows: accounts } = await client.query<{ balance: number; held: number }>(
      'SELECT balance, held FROM accounts WHERE tenant_id = $1',
      [tenantId],
    );
    const { balance, held } = accounts[0] ?? { balance: 0, held: 0 };
    throw new ConflictError(
      'credits',
      `No more than ${balance - held} credits can be taken: the balance is ${balance}, of which requests that run have set ${held} aside.`,
    );
  }
}

type EntryRow = Pick<OperatorEntry, 'id' | 'createdAt' | 'amount'>;

const RETURNING = 'RETURNING id::text AS id, created_at AS "createdAt", amount';

function storedMemo(memo: string | null): string | null {
  return memo === null ? null : toStoredText(memo);
}
