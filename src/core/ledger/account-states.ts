/** A tenant's account inside one transaction, whose row is locked meanwhile. */
interface AccountState {
  balance: number;
  /** Credits in open holds, those ended or opened in this transaction already counted. */
  held: number;
  /** Credits of holds that end in this transaction. */
  ended: number;
  /** Credits of holds that this transaction opens or enlarges. */
  opened: number;
  /** True when a request of this account ends, whatever it cost. */
  settled: boolean;
}

/** Credits by which a statement changes an account. */
export interface AccountChange {
  tenant_id: string;
  credits: number;
}

/** The accounts that one transaction works on, by tenant id; a tenant without one has nothing. */
export class AccountStates {
  private readonly states = new Map<string, AccountState>();

  add(tenantId: string, balance: number, held: number): void {
    this.states.set(tenantId, { balance, held, ended: 0, opened: 0, settled: false });
  }

  has(tenantId: string): boolean {
    return this.states.has(tenantId);
  }

  /** Credits that no hold has claimed. */
  available(tenantId: string): number {
    const state = this.of(tenantId);
    return Math.max(0, state.balance - state.held);
  }

  /** Credits in open holds. */
  held(tenantId: string): number {
    return this.of(tenantId).held;
  }

  /** Gives the credits of a hold back. */
  end(tenantId: string, credits: number): void {
    const state = this.of(tenantId);
    state.held -= credits;
    state.ended += credits;
  }

  /** Takes credits, which must be available. */
  charge(tenantId: string, credits: number): void {
    const state = this.of(tenantId);
    state.balance -= credits;
    state.settled = true;
  }

  /** Sets credits aside if so many are available; says whether they were. */
  open(tenantId: string, credits: number): boolean {
    const state = this.of(tenantId);
    if (credits > state.balance - state.held) return false;
    state.held += credits;
    state.opened += credits;
    return true;
  }

  /** Accounts in which a request or a hold ended, with the credits of the ended holds. */
  settledAccounts(): AccountChange[] {
    const changes: AccountChange[] = [];
    for (const [tenant_id, { ended, settled }] of this.states) {
      if (settled || ended > 0) changes.push({ tenant_id, credits: ended });
    }
    return changes;
  }

  /** Accounts in which holds were opened or enlarged, with the credits of those. */
  openedAccounts(): AccountChange[] {
    const changes: AccountChange[] = [];
    for (const [tenant_id, { opened }] of this.states) {
      if (opened > 0) changes.push({ tenant_id, credits: opened });
    }
    return changes;
  }

  private of(tenantId: string): AccountState {
    const known = this.states.get(tenantId);
    if (known) return known;
    const empty = { balance: 0, held: 0, ended: 0, opened: 0, settled: false };
    this.states.set(tenantId, empty);
    return empty;
  }
}
