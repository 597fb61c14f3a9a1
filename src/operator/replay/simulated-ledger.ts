import type { Caller } from '../../core/access/caller.js';
import { AccountStates } from '../../core/ledger/account-states.js';
import { admitRequests } from '../../core/ledger/admit-requests.js';
import { creditsFor, Hold, refusalOf } from '../../core/ledger/hold.js';
import { CoverEntry, HoldEntry, type Reservation } from '../../core/ledger/ledger-entry.js';
import type { Charge, CoverOperation } from '../../core/ledger/ledger-operations.js';
import type { PayableCharge } from '../../core/ledger/pricing.js';
import { takeCharge } from '../../core/ledger/settle-group.js';
import { SpendLimits, type SpendLimitRow } from '../../core/ledger/spend-limits.js';
import type { BillableRequest } from '../../canonical/billable-request.js';
import { CoarseTimer } from '../../platform/time/coarse-timer.js';

/** A monthly spend limit and the credits spent of it before the window. */
export interface MonthlyLimit {
  readonly limit: number;
  readonly spent: number;
}

/** Balances and limits at the start of the window. */
export interface TenantBalances {
  /** Credits, by tenant. */
  readonly balances: ReadonlyMap<string, number>;
  readonly tenantLimits: ReadonlyMap<string, MonthlyLimit>;
  readonly keyLimits: ReadonlyMap<string, MonthlyLimit>;
}

/** Credits spent and held in a calendar month (UTC). */
interface MonthUse {
  month: number;
  spent: number;
  held: number;
}

/** A hold and the limits that it counts towards. */
export interface SimulatedHold {
  readonly hold: Hold;
  readonly keyIds: readonly string[];
}

/**
 * Simulates the ledger on balances in memory. The service's own functions decide, and nothing is
 * written. Each operation corresponds to one transaction.
 */
export class SimulatedLedger {
  private readonly accounts = new AccountStates();
  private readonly open = new Set<string>();
  private readonly timer = new CoarseTimer();
  private readonly tenantUse = new Map<string, MonthUse>();
  private readonly keyUse = new Map<string, MonthUse>();
  /** For each key id, the keys with a limit that its requests count towards. */
  private readonly chains = new Map<string, readonly string[]>();

  constructor(
    private readonly tenantBalances: TenantBalances,
    private readonly clock: { now(): number },
  ) {
    for (const [tenantId, balance] of tenantBalances.balances)
      this.accounts.add(tenantId, balance, 0);
    const month = monthOf(clock.now());
    for (const [limits, uses] of [
      [tenantBalances.tenantLimits, this.tenantUse],
      [tenantBalances.keyLimits, this.keyUse],
    ] as const) {
      for (const [id, { spent }] of limits) uses.set(id, { month, spent, held: 0 });
    }
  }

  /** Returns a tenant's credits that are not held. */
  available(tenantId: string): number {
    return this.accounts.available(tenantId);
  }

  /** Adds a grant, a correction or a refund, in signed credits. */
  add(tenantId: string, credits: number): void {
    this.accounts.charge(tenantId, -credits);
  }

  /**
   * Holds the possible cost of the request on its first route.
   *
   * @throws InsufficientCreditsError, SpendLimitError when it does not fit
   */
  hold(caller: Caller, request: BillableRequest): SimulatedHold {
    const [route] = request.routes;
    const { least: amount, range } = creditsFor(route);
    const { requestId, endpoint, streamed, startedAt: createdAt } = request;
    const { tenantId, apiKeyId, spendLimits } = caller;
    const { model, provider } = route;
    const spendLimited = spendLimits !== undefined;
    const fields = { requestId, tenantId, apiKeyId, amount, endpoint, streamed, createdAt };
    const operation = Object.assign(fields, { model, provider, spendLimited });
    const entry = new HoldEntry(
      range ? Object.assign(operation, { range }) : operation,
      this.timer,
    );
    const keyIds = this.keysOf(caller);
    this.decide(entry);
    const outcome = entry.outcome!;
    if (!outcome.admitted) throw refusalOf(amount, outcome, request);
    this.open.add(requestId);
    const credits = outcome.granted ?? amount;
    this.noteHeld(keyIds, credits);
    const cover = async (operation: CoverOperation): Promise<number | undefined> => {
      const reservation = new CoverEntry({ ...operation, subjects: undefined }, this.timer);
      this.decide(reservation);
      if (!reservation.outcome) return undefined;
      this.noteHeld(keyIds, reservation.granted);
      return reservation.granted;
    };
    const hold = new Hold({ cover }, caller, request, credits);
    hold.limitOutput();
    return { hold, keyIds };
  }

  /**
   * Releases a hold and takes a charge.
   *
   * @param maxCost the caller's limit in credits
   */
  settle({ hold, keyIds }: SimulatedHold, charge: Charge, maxCost?: number): PayableCharge {
    const { caller, request, credits } = hold;
    this.open.delete(request.requestId);
    this.accounts.end(caller.tenantId, credits);
    this.noteHeld(keyIds, -credits);
    const payable = takeCharge(this.accounts, caller.tenantId, charge, maxCost);
    this.noteSpent(caller.tenantId, keyIds, payable.cost);
    return payable;
  }

  /** Charges the logged cost of a request that is not replayed. */
  take(caller: Caller, credits: number): void {
    const charge = { modelCharge: credits, byokPlatformFee: 0, managedToolFee: 0 };
    const { cost } = takeCharge(this.accounts, caller.tenantId, charge);
    this.noteSpent(caller.tenantId, this.keysOf(caller), cost);
  }

  private decide(entry: Reservation): void {
    const limits = entry.isLimited ? this.limitsOf(entry) : undefined;
    admitRequests(this.accounts, [entry], this.open, limits);
    // Ends its timer. The result is not awaited.
    entry.succeed();
  }

  private limitsOf({ tenantId, apiKeyId }: Reservation): SpendLimits {
    const rows: SpendLimitRow[] = [];
    const ofTenant = this.tenantBalances.tenantLimits.get(tenantId);
    if (ofTenant) {
      const { spent } = this.useOf(this.tenantUse, tenantId);
      rows.push({
        scope: 'tenant',
        id: tenantId,
        spend_limit: ofTenant.limit,
        used: spent,
        key_ids: [],
      });
    }
    for (const id of apiKeyId === undefined ? [] : (this.chains.get(apiKeyId) ?? [])) {
      const { spent, held } = this.useOf(this.keyUse, id);
      const spend_limit = this.tenantBalances.keyLimits.get(id)!.limit;
      rows.push({ scope: 'key', id, spend_limit, used: spent + held, key_ids: [apiKeyId!] });
    }
    return new SpendLimits(rows, this.accounts);
  }

  private keysOf({ apiKeyId, countsOn }: Caller): readonly string[] {
    let keys = this.chains.get(apiKeyId);
    if (!keys) {
      const all = countsOn?.map(({ id }) => id) ?? [apiKeyId];
      keys = all.filter((id) => this.tenantBalances.keyLimits.has(id));
      this.chains.set(apiKeyId, keys);
    }
    return keys;
  }

  private useOf(uses: Map<string, MonthUse>, id: string): MonthUse {
    const month = monthOf(this.clock.now());
    let use = uses.get(id);
    if (!use) uses.set(id, (use = { month, spent: 0, held: 0 }));
    if (use.month !== month) Object.assign(use, { month, spent: 0 });
    return use;
  }

  private noteHeld(keyIds: readonly string[], credits: number): void {
    for (const id of keyIds) this.useOf(this.keyUse, id).held += credits;
  }

  private noteSpent(tenantId: string, keyIds: readonly string[], credits: number): void {
    if (this.tenantBalances.tenantLimits.has(tenantId)) {
      this.useOf(this.tenantUse, tenantId).spent += credits;
    }
    for (const id of keyIds) this.useOf(this.keyUse, id).spent += credits;
  }
}

/** Months since 1970 (UTC). */
function monthOf(ms: number): number {
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
