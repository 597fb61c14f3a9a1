import type { Clock } from '../../canonical/clock.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { InProcessRateLimiter } from '../../core/access/rate-limiters.js';
import { RequestRates, type TakenRates } from '../../core/access/request-rates.js';
import { refusalOf } from '../../core/ledger/hold.js';
import type { Plan } from '../../core/routing/plan.js';
import { RateLimitError } from '../../platform/errors/gateway-errors.js';
import type { ReplayedCaller } from './replay-environment.js';

/** Limits that a request counts towards while it is open. */
export interface TakenLimits {
  /** @param tokens used by the request; undefined when it was refused after all */
  end(tokens: number | undefined): void;
}

/**
 * Simulates the limits of tenants and keys that are not about credits: requests in flight, and, for
 * denser traffic, requests and tokens per minute. At the original density everything was admitted.
 */
export class ReplayLimits {
  private readonly keys: InProcessRateLimiter;
  private readonly rates: RequestRates;
  private readonly open = new Map<string, number>();

  constructor(
    clock: Pick<Clock, 'now'>,
    private readonly countsMinutes: boolean,
  ) {
    this.keys = new InProcessRateLimiter(clock);
    this.rates = new RequestRates(new InProcessRateLimiter(clock));
  }

  /**
   * Counts a request towards all limits, or none.
   *
   * @throws RateLimitError when a limit is reached
   */
  async take({ caller }: ReplayedCaller, plan: Plan<RoutableRequest>): Promise<TakenLimits> {
    if (this.countsMinutes && !this.keys.take(caller).allowed) {
      throw new RateLimitError('model', "The key's rate limit is reached.", 1);
    }
    const taken = this.countsMinutes ? await this.rates.take(caller.tenantId, plan) : undefined;
    try {
      const names = this.openOn(caller.tenantId, plan);
      return { end: (tokens) => this.end(names, taken, tokens) };
    } catch (error) {
      taken?.giveBack();
      throw error;
    }
  }

  private openOn(tenantId: string, plan: Plan<RoutableRequest>): readonly string[] {
    const limited = plan.limits?.filter(({ max_in_flight: most }) => most !== undefined) ?? [];
    const names = limited.map(({ scope, id }) => `${tenantId} ${scope} ${id}`);
    for (const [index, { scope, max_in_flight: maxInFlight = Infinity }] of limited.entries()) {
      if (this.countOf(names[index]!) < maxInFlight) continue;
      const excess = { scope, maxInFlight };
      throw refusalOf(0, { admitted: false, available: 0, excess }, plan);
    }
    for (const name of names) this.open.set(name, this.countOf(name) + 1);
    return names;
  }

  private end(
    names: readonly string[],
    taken: TakenRates | undefined,
    tokens: number | undefined,
  ): void {
    for (const name of names) this.open.set(name, this.countOf(name) - 1);
    if (tokens === undefined) taken?.giveBack();
    else taken?.settle(tokens);
  }

  private countOf(name: string): number {
    return this.open.get(name) ?? 0;
  }
}
