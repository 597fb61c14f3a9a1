/** A tenant's account within a transaction that locks its row. */
interface AccountState {
  balance: number;
  /** Credits in open holds, including changes by this transaction. */
  held: number;
  /** Credits of holds that end in this transaction. */
  ended: number;
  /** Credits of holds that this transaction opens or enlarges. */
  opened: number;
  /** True when a request of this account ends, whatever its cost. */
  settled: boolean;
}

/** A change of an account by a statement. */
export interface AccountChange {
  tenant_id: string;
  credits: number;
}

/** The accounts of one transaction by tenant id; a tenant without an account has no credits. */
export class AccountStates {
  private readonly states = new Map<string, AccountState>();

  add(tenantId: string, balance: number, held: number): void {
    this.states.set(tenantId, { balance, held, ended: 0, opened: 0, settled: false });
  }

  has(tenantId: string): boolean {
    return this.states.has(tenantId);
  }

  /** Returns the credits not reserved by a hold. */
  available(tenantId: string): number {
    const state = this.of(tenantId);
    return Math.max(0, state.balance - state.held);
  }

  /** Returns the credits in open holds. */
  held(tenantId: string): number {
    return this.of(tenantId).held;
  }

  /** Releases the credits of a hold. */
  end(tenantId: string, credits: number): void {
    const state = this.of(tenantId);
    state.held -= credits;
    state.ended += credits;
  }

  /** Charges credits, which must be available. */
  charge(tenantId: string, credits: number): void {
    const state = this.of(tenantId);
    state.balance -= credits;
    state.settled = true;
  }

  /** Reserves credits. Returns false when too few are available. */
  open(tenantId: string, credits: number): boolean {
    const state = this.of(tenantId);
    if (credits > state.balance - state.held) return false;
    state.held += credits;
    state.opened += credits;
    return true;
  }

  /** Returns accounts in which a request or hold ended, with the credits of the ended holds. */
  settledAccounts(): AccountChange[] {
    const changes: AccountChange[] = [];
    for (const [tenant_id, { ended, settled }] of this.states) {
      if (settled || ended > 0) changes.push({ tenant_id, credits: ended });
    }
    return changes;
  }

  /** Returns accounts in which holds were opened or enlarged, with their credits. */
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
