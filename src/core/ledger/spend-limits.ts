import type { AccountStates } from './account-states.js';
import type { Ask } from './ledger-entry.js';
import type { SpendLimitExcess } from './ledger-operations.js';
import type { SpendLimitRow } from './spend-limit-statements.js';

/** What a limit has left in this month, open holds counted as spent. */
interface LimitState {
  scope: SpendLimitExcess['scope'];
  limit: number;
  used: number;
}

/**
 * The monthly limits of the tenants and keys that one transaction works on, whose accounts are
 * locked meanwhile: nobody else can spend or set aside anything of theirs.
 */
export class SpendLimits {
  private readonly states = new Map<string, LimitState>();

  constructor(rows: readonly SpendLimitRow[], accounts: AccountStates) {
    for (const { scope, id, spend_limit: limit, used } of rows) {
      const held = scope === 'tenant' ? accounts.held(id) : 0;
      this.states.set(id, { scope, limit, used: used + held });
    }
  }

  /** The limit that so many credits more would pass; undefined: there is room. */
  excessOf(ask: Ask, credits: number): SpendLimitExcess | undefined {
    for (const state of this.of(ask)) {
      const left = leftOf(state);
      if (credits > left) return { scope: state.scope, limit: state.limit, left };
    }
    return undefined;
  }

  /** What the limits leave for an ask, in credits. */
  leftFor(ask: Ask): number {
    return Math.min(Infinity, ...this.of(ask).map(leftOf));
  }

  /** Counts what an ask has set aside. */
  count(ask: Ask, credits: number): void {
    for (const state of this.of(ask)) state.used += credits;
  }

  hasKey(apiKeyId: string | undefined): boolean {
    return apiKeyId !== undefined && this.states.has(apiKeyId);
  }

  private of({ tenantId, apiKeyId }: Ask): LimitState[] {
    return [apiKeyId, tenantId].flatMap((id) => {
      const state = id === undefined ? undefined : this.states.get(id);
      return state ? [state] : [];
    });
  }
}

function leftOf({ limit, used }: LimitState): number {
  return Math.max(0, limit - used);
}
