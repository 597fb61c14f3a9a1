import type { Caller } from '../access/caller.js';
import type { BillableRequest, BillableRoute } from '../../canonical/billable-request.js';
import type { LedgerStore } from './ledger-store.js';
import { priceRoute, totalOf } from './pricing.js';

/** Credits set aside for one request. It ends in exactly one settlement, or in the sweep. */
export class Hold {
  constructor(
    private readonly store: LedgerStore,
    readonly caller: Caller,
    readonly request: BillableRequest,
    private amount: number,
  ) {}

  /** What is set aside now. */
  get credits(): number {
    return this.amount;
  }

  /** Makes the hold large enough for a dearer route. @returns false when the credits do not reach */
  async cover(route: BillableRoute): Promise<boolean> {
    const needed = ceilingOf(route);
    if (needed <= this.amount) return true;
    const { requestId } = this.request;
    const { tenantId, apiKeyId, spendLimits } = this.caller;
    const covered = await this.store.cover(
      requestId,
      tenantId,
      needed - this.amount,
      spendLimits && apiKeyId,
    );
    if (covered) this.amount = needed;
    return covered;
  }
}

/** The most that a request can cost on a route, in credits. */
export function ceilingOf(route: BillableRoute): number {
  return totalOf(priceRoute(route.ceiling, route));
}
