import { renewalOf, type LimitedSubject, type LimitScope } from '../../canonical/limits.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import type { AccountStates } from './account-states.js';
import type { UseRow } from './budget-statements.js';
import type { Reservation } from './ledger-entry.js';
import type { LimitExcess, SpendLimitExcess } from './ledger-operations.js';

/**
 * Reads the spend of this month (UTC) under the limits of the keys $1, their parent keys and the tenants
 * $2. For keys, open holds count as spent. Accounts must be locked. Deletes the lines of ended holds.
 */
export const READ_SPEND_LIMITS = {
  name: 'ledger-read-spend-limits',
  text: `
    WITH month AS (
      SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date AS month
    ), key_chain AS MATERIALIZED (
      SELECT id AS key_id, unnest(ancestor_ids || id) AS id FROM api_keys
      WHERE id = ANY ($1::uuid[])
    ), cleared AS (
      DELETE FROM key_holds WHERE api_key_id IN (SELECT id FROM key_chain)
        AND NOT EXISTS (SELECT FROM holds WHERE holds.request_id = key_holds.request_id)
    )
    SELECT 'key' AS scope, id, monthly_spend_limit AS spend_limit,
      coalesce(spent, 0) + (
        SELECT coalesce(sum(holds.amount), 0)::bigint
        FROM key_holds JOIN holds ON holds.request_id = key_holds.request_id
        WHERE key_holds.api_key_id = api_keys.id
      ) AS used,
      ARRAY(SELECT key_id FROM key_chain WHERE key_chain.id = api_keys.id) AS key_ids
    FROM api_keys CROSS JOIN month
      LEFT JOIN key_months ON key_months.api_key_id = id AND key_months.month = month.month
    WHERE id IN (SELECT id FROM key_chain) AND monthly_spend_limit IS NOT NULL
    UNION ALL
    SELECT 'tenant', id, monthly_spend_limit, coalesce(spent, 0), '{}'
    FROM tenants CROSS JOIN month
      LEFT JOIN account_months
        ON account_months.tenant_id = id AND account_months.month = month.month
    WHERE id = ANY ($2::uuid[]) AND monthly_spend_limit IS NOT NULL`,
};

/** Records that the holds $2 count toward the limits of the keys $1. */
export const OPEN_KEY_HOLDS = {
  name: 'ledger-open-key-holds',
  text: `
    INSERT INTO key_holds (api_key_id, request_id)
    SELECT * FROM unnest($1::uuid[], $2::uuid[])
    ON CONFLICT DO NOTHING`,
};

/** A monthly limit with its use. */
interface LimitState {
  /** The key's or the tenant's id. */
  id: string;
  scope: SpendLimitExcess['scope'];
  limit: number;
  used: number;
}

/**
 * Spend limits and budgets of the tenants, keys and end users in one transaction. Their accounts are
 * locked, so no other transaction can spend or reserve for them.
 */
export class SpendLimits {
  private readonly byTenant = new Map<string, LimitState>();
  /** By the requesting key: its own limit and those of its parent keys. */
  private readonly byKey = new Map<string, LimitState[]>();
  private readonly uses = new Map<string, UseRow>();

  /** @param uses usage of subjects with budgets or a concurrency limit */
  constructor(
    rows: readonly SpendLimitRow[],
    accounts: AccountStates,
    uses: readonly UseRow[] = [],
  ) {
    for (const { scope, id, spend_limit: limit, used, key_ids: keyIds } of rows) {
      const held = scope === 'tenant' ? accounts.held(id) : 0;
      const state = { id, scope, limit, used: used + held };
      if (scope === 'tenant') this.byTenant.set(id, state);
      for (const keyId of keyIds) this.byKey.set(keyId, [...(this.byKey.get(keyId) ?? []), state]);
    }
    for (const use of uses) this.uses.set(useKey(use.tenant_id, use.scope, use.subject), use);
  }

  /** Returns the limit that these credits, or one more request, would exceed; undefined: none. */
  excessOf(reservation: Reservation, credits: number): LimitExcess | undefined {
    for (const state of this.of(reservation)) {
      const left = leftOf(state);
      if (credits > left) return { scope: state.scope, limit: state.limit, left };
    }
    for (const { subject, use } of this.usesOf(reservation)) {
      const { scope, budgets, max_in_flight: maxInFlight = Infinity } = subject;
      if (reservation.kind === 'hold' && use.requests >= maxInFlight) return { scope, maxInFlight };
      for (const { period, credits: limit } of budgets) {
        const left = Math.max(0, limit - use[period] - use.held);
        const renewsAt = renewalOf(period, use.now);
        if (credits > left) return { scope, period, limit, left, renewsAt };
      }
    }
    return undefined;
  }

  /** Returns the credits that the limits leave. */
  leftFor(reservation: Reservation): number {
    let left = Math.min(Infinity, ...this.of(reservation).map(leftOf));
    for (const { subject, use } of this.usesOf(reservation)) {
      for (const { period, credits } of subject.budgets) {
        left = Math.min(left, Math.max(0, credits - use[period] - use.held));
      }
    }
    return left;
  }

  /** Counts reserved credits. */
  count(reservation: Reservation, credits: number): void {
    for (const state of this.of(reservation)) state.used += credits;
    for (const { use } of this.usesOf(reservation)) {
      use.held += credits;
      if (reservation.kind === 'hold') use.requests++;
    }
  }

  /** Returns the keys with a limit that a key's requests count toward. */
  limitedKeysOf(apiKeyId: string): string[] {
    return (this.byKey.get(apiKeyId) ?? []).map(({ id }) => id);
  }

  private of({ tenantId, apiKeyId }: Reservation): LimitState[] {
    const ofKey = apiKeyId === undefined ? undefined : this.byKey.get(apiKeyId);
    const ofTenant = this.byTenant.get(tenantId);
    return [...(ofKey ?? []), ...(ofTenant ? [ofTenant] : [])];
  }

  private usesOf({
    tenantId,
    subjects = [],
  }: Reservation): { subject: LimitedSubject; use: UseRow }[] {
    return subjects.map((subject) => {
      const use = this.uses.get(useKey(tenantId, subject.scope, toStoredText(subject.id)));
      return { subject, use: use! };
    });
  }
}

function useKey(tenantId: string, scope: LimitScope, subject: string): string {
  return `${tenantId} ${scope} ${subject}`;
}

function leftOf({ limit, used }: LimitState): number {
  return Math.max(0, limit - used);
}

export interface SpendLimitRow {
  scope: 'key' | 'tenant';
  id: string;
  /** Credits. */
  spend_limit: number;
  /** Credits; for a tenant, without its open holds. */
  used: number;
  /** The keys $1 whose requests count toward the limit; empty for a tenant. */
  key_ids: readonly string[];
}
