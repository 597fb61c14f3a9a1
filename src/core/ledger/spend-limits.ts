import { renewalOf, type LimitedSubject, type LimitScope } from '../../canonical/limits.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import type { AccountStates } from './account-states.js';
import type { UseRow } from './budget-statements.js';
import type { Ask } from './ledger-entry.js';
import type { LimitExcess, SpendLimitExcess } from './ledger-operations.js';

/**
 * What the keys $1, the keys above them and the tenants $2 that have a monthly limit have spent in
 * this month (UTC); of keys, their open holds count as spent. The accounts must be locked. Lines of holds that have
 * ended are cleared away.
 */
export const READ_SPEND_LIMITS = {
  name: 'ledger-read-spend-limits',
  text: `
    WITH month AS (
      SELECT date_trunc('month', now() AT TIME ZONE 'UTC')::date AS month
    ), asked AS MATERIALIZED (
      SELECT id AS asked_id, unnest(ancestor_ids || id) AS id FROM api_keys
      WHERE id = ANY ($1::uuid[])
    ), cleared AS (
      DELETE FROM key_holds WHERE api_key_id IN (SELECT id FROM asked)
        AND NOT EXISTS (SELECT FROM holds WHERE holds.request_id = key_holds.request_id)
    )
    SELECT 'key' AS scope, id, monthly_spend_limit AS spend_limit,
      coalesce(spent, 0) + (
        SELECT coalesce(sum(holds.amount), 0)::bigint
        FROM key_holds JOIN holds ON holds.request_id = key_holds.request_id
        WHERE key_holds.api_key_id = api_keys.id
      ) AS used,
      ARRAY(SELECT asked_id FROM asked WHERE asked.id = api_keys.id) AS key_ids
    FROM api_keys CROSS JOIN month
      LEFT JOIN key_months ON key_months.api_key_id = id AND key_months.month = month.month
    WHERE id IN (SELECT id FROM asked) AND monthly_spend_limit IS NOT NULL
    UNION ALL
    SELECT 'tenant', id, monthly_spend_limit, coalesce(spent, 0), '{}'
    FROM tenants CROSS JOIN month
      LEFT JOIN account_months
        ON account_months.tenant_id = id AND account_months.month = month.month
    WHERE id = ANY ($2::uuid[]) AND monthly_spend_limit IS NOT NULL`,
};

/** Notes which holds $2 count against the limits of which keys $1. */
export const OPEN_KEY_HOLDS = {
  name: 'ledger-open-key-holds',
  text: `
    INSERT INTO key_holds (api_key_id, request_id)
    SELECT * FROM unnest($1::uuid[], $2::uuid[])
    ON CONFLICT DO NOTHING`,
};

/** What a limit has left in this month, open holds counted as spent. */
interface LimitState {
  /** The key's or the tenant's. */
  id: string;
  scope: SpendLimitExcess['scope'];
  limit: number;
  used: number;
}

/**
 * The limits of money of the tenants, keys and end users that one transaction works on, whose accounts
 * are locked meanwhile: nobody else can spend or set aside anything of theirs.
 */
export class SpendLimits {
  private readonly byTenant = new Map<string, LimitState>();
  /** By the key that asks: its own limit and those of the keys above it. */
  private readonly byKey = new Map<string, LimitState[]>();
  private readonly uses = new Map<string, UseRow>();

  /** @param uses of those who have budgets or a limit of open requests */
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

  /** The limit that so many credits more, or a request more, would pass; undefined: there is room. */
  excessOf(ask: Ask, credits: number): LimitExcess | undefined {
    for (const state of this.of(ask)) {
      const left = leftOf(state);
      if (credits > left) return { scope: state.scope, limit: state.limit, left };
    }
    for (const { subject, use } of this.usesOf(ask)) {
      const { scope, budgets, max_in_flight: maxInFlight = Infinity } = subject;
      if (ask.kind === 'hold' && use.requests >= maxInFlight) return { scope, maxInFlight };
      for (const { period, credits: limit } of budgets) {
        const left = Math.max(0, limit - use[period] - use.held);
        const renewsAt = renewalOf(period, use.now);
        if (credits > left) return { scope, period, limit, left, renewsAt };
      }
    }
    return undefined;
  }

  /** What the limits leave for an ask, in credits. */
  leftFor(ask: Ask): number {
    let left = Math.min(Infinity, ...this.of(ask).map(leftOf));
    for (const { subject, use } of this.usesOf(ask)) {
      for (const { period, credits } of subject.budgets) {
        left = Math.min(left, Math.max(0, credits - use[period] - use.held));
      }
    }
    return left;
  }

  /** Counts what an ask has set aside. */
  count(ask: Ask, credits: number): void {
    for (const state of this.of(ask)) state.used += credits;
    for (const { use } of this.usesOf(ask)) {
      use.held += credits;
      if (ask.kind === 'hold') use.requests++;
    }
  }

  /** The keys with a limit on which the requests of a key count. */
  limitedKeysOf(apiKeyId: string): string[] {
    return (this.byKey.get(apiKeyId) ?? []).map(({ id }) => id);
  }

  private of({ tenantId, apiKeyId }: Ask): LimitState[] {
    const ofKey = apiKeyId === undefined ? undefined : this.byKey.get(apiKeyId);
    const ofTenant = this.byTenant.get(tenantId);
    return [...(ofKey ?? []), ...(ofTenant ? [ofTenant] : [])];
  }

  private usesOf({ tenantId, subjects = [] }: Ask): { subject: LimitedSubject; use: UseRow }[] {
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
  /** Credits; of a tenant without its open holds. */
  used: number;
  /** The keys $1 whose requests count on it; of a tenant none are named. */
  key_ids: readonly string[];
}
