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

/** An operator's change of a balance; the amount is signed credits. */
export interface OperatorEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly kind: 'grant' | 'correction';
  readonly amount: number;
  readonly memo: string | null;
}

/** Returns the audit log's record of an entry. */
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
 * Grants and corrections by operators. Both change the tenant's granted total and neither counts as
 * spend.
 */
@Injectable()
export class GrantsService {
  constructor(private readonly database: Database) {}

  /**
   * Adds credits to a tenant's balance, as a ledger entry.
   *
   * @throws InvalidRequestError unless `credits` is a positive integer that keeps the totals below 2^53
   * @throws NotFoundError for an unknown tenant
   */
  grant(tenantId: string, credits: number): Promise<OperatorEntry> {
    return this.grantWithin(this.database.pool, tenantId, credits);
  }

  /** Grants within a transaction, such as the one that creates the tenant. */
  async grantWithin(
    client: Pool | PoolClient,
    tenantId: string,
    credits: number,
    memo: string | null = null,
  ): Promise<OperatorEntry> {
    if (!Number.isSafeInteger(credits) || credits <= 0) {
      throw new InvalidRequestError('credits', '`credits` must be a positive integer.');
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
      `A tenant cannot be granted more than ${Number.MAX_SAFE_INTEGER} credits in total.`,
    );
  }

  /**
   * Adds or removes credits within a transaction, as a ledger entry. Credits reserved by open holds are
   * left alone, so running requests are unaffected.
   *
   * @param credits signed, not 0
   * @throws ConflictError (`credits`) when it would remove more than is available
   * @throws InvalidRequestError for 0, or when the totals would exceed 2^53
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
        '`credits` must be an integer other than 0; negative values remove credits.',
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
        `A tenant cannot be given more than ${Number.MAX_SAFE_INTEGER} credits in total.`,
      );
    }
    const { rows: accounts } = await client.query<{ balance: number; held: number }>(
      'SELECT balance, held FROM accounts WHERE tenant_id = $1',
      [tenantId],
    );
    const { balance, held } = accounts[0] ?? { balance: 0, held: 0 };
    throw new ConflictError(
      'credits',
      `At most ${balance - held} credits can be removed: the balance is ${balance}, and running requests hold ${held}.`,
    );
  }
}

type EntryRow = Pick<OperatorEntry, 'id' | 'createdAt' | 'amount'>;

const RETURNING = 'RETURNING id::text AS id, created_at AS "createdAt", amount';

function storedMemo(memo: string | null): string | null {
  return memo === null ? null : toStoredText(memo);
}
