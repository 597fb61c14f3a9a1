/** A tenant's account inside one transaction, whose row is locked meanwhile. */
export interface AccountState {
  balance: number;
  /** Credits in open holds, those ended or opened in this transaction already counted. */
  held: number;
  /** Credits of holds that end in this transaction. */
  ended: number;
  /** Credits of holds that this transaction opens or enlarges. */
  opened: number;
}

/** Accounts by tenant id. */
export class AccountStates {
  private readonly states = new Map<string, AccountState>();

  add(tenantId: string, balance: number, held: number): void {
    this.states.set(tenantId, { balance, held, ended: 0, opened: 0 });
  }

  /** The account, or an empty one for a tenant that has none. */
  of(tenantId: string): AccountState {
    let state = this.states.get(tenantId);
    if (!state) {
      state = { balance: 0, held: 0, ended: 0, opened: 0 };
      this.states.set(tenantId, state);
    }
    return state;
  }

  has(tenantId: string): boolean {
    return this.states.has(tenantId);
  }

  /** Gives the credits of a hold back. */
  end(tenantId: string, amount: number): void {
    const state = this.of(tenantId);
    state.held -= amount;
    state.ended += amount;
  }

  /** Sets credits aside if so many are available; says whether they were. */
  open(tenantId: string, amount: number): boolean {
    const state = this.of(tenantId);
    if (amount > state.balance - state.held) return false;
    state.held += amount;
    state.opened += amount;
    return true;
  }

  /** Credits that no hold has claimed. */
  available(tenantId: string): number {
    const state = this.of(tenantId);
    return Math.max(0, state.balance - state.held);
  }

  /** Tenant and credits of every account in which holds ended. */
  endedHolds(): { tenant_id: string; credits: number }[] {
    const rows: { tenant_id: string; credits: number }[] = [];
    for (const [tenant_id, { ended }] of this.states) {
      if (ended > 0) rows.push({ tenant_id, credits: ended });
    }
    return rows;
  }

  /** Tenant and credits of every account in which holds were opened or enlarged. */
  openedHolds(): { tenant_id: string; credits: number }[] {
    const rows: { tenant_id: string; credits: number }[] = [];
    for (const [tenant_id, { opened }] of this.states) {
      if (opened > 0) rows.push({ tenant_id, credits: opened });
    }
    return rows;
  }
}
