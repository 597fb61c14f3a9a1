import { Injectable } from '@nestjs/common';
import { strictestBudgets, strictestRates } from '../../canonical/limits.js';
import type { Caller } from '../../core/access/caller.js';
import { DAY_MS, startOfUtcDay, utcMonthOf } from '../../platform/time/dates.js';
import { BalanceReader } from '../../core/ledger/balance.reader.js';
import { RequestLogAnalyticsReader } from '../../core/request-log/request-log-analytics.reader.js';
import type {
  CreditDayDto,
  CreditHistoryDto,
  CreditTotalsDto,
  CustomerCreditsDto,
} from './credits.dto.js';

/** Full days that the average covers. */
const PACE_DAYS = 7;
/** Longer forecasts are not reported. */
const MAX_LASTS_DAYS = 3_650;

/** Returns a tenant's balance, spend, limits and forecast in credits. */
@Injectable()
export class CreditsService {
  constructor(
    private readonly balances: BalanceReader,
    private readonly analytics: RequestLogAnalyticsReader,
  ) {}

  async totals(caller: Caller): Promise<CreditTotalsDto> {
    const { granted, spent } = await this.balances.balanceOf(caller.tenantId);
    return { total_credits: granted, total_usage: spent };
  }

  /** @param now determines the current calendar month */
  async overview(caller: Caller, now: Date): Promise<CustomerCreditsDto> {
    const month = utcMonthOf(now);
    const subjects = caller.limits?.subjects ?? [];
    const [account, period] = await Promise.all([
      this.balances.balanceOf(caller.tenantId),
      this.balances.monthOf(caller.tenantId, month.start),
    ]);
    return {
      balance: { available: account.available, held: account.held, total: account.balance },
      current_period: {
        start: month.start.toISOString(),
        end: month.end.toISOString(),
        spent: period.spent,
        requests: period.requestCount,
      },
      lifetime: {
        granted: account.granted,
        spent: account.spent,
        requests: account.requestCount,
      },
      quotas: {
        requests_per_minute: Math.min(
          caller.rateLimitPerMinute,
          strictestRates(subjects).requests_per_minute ?? Infinity,
        ),
        monthly_spend_limit: lowest([
          caller.spendLimits?.key,
          caller.spendLimits?.tenant,
          strictestBudgets(subjects).find(({ period }) => period === 'month')?.credits,
        ]),
      },
    };
  }

  /**
   * Returns the balance at the end of each day, computed back from the current one.
   * @param days number of days, including today
   */
  async history(
    { tenantId }: Pick<Caller, 'tenantId'>,
    days: number,
    now: Date,
  ): Promise<CreditHistoryDto> {
    const today = startOfUtcDay(now).getTime();
    const start = new Date(today - Math.max(days - 1, PACE_DAYS) * DAY_MS);
    const [{ balance: balanceNow, available }, added, groups] = await Promise.all([
      this.balances.balanceOf(tenantId),
      this.balances.addedByDay(tenantId, start),
      this.analytics.groupsOfTenant(tenantId, 'day', { start }),
    ]);
    const spent = new Map(groups.map(({ group, cost }) => [group.slice(0, 10), cost]));
    const data: CreditDayDto[] = [];
    let balance = balanceNow;
    for (let at = today; at >= start.getTime(); at -= DAY_MS) {
      const day = dayOf(new Date(at));
      const moved = { added: added.get(day) ?? 0, spent: spent.get(day) ?? 0 };
      data.push({ day, ...moved, balance });
      balance += moved.spent - moved.added;
    }
    const whole = data.slice(1, 1 + PACE_DAYS).reduce((sum, { spent: one }) => sum + one, 0);
    const daily = Math.round(whole / PACE_DAYS);
    return {
      data: data.slice(0, days).reverse(),
      daily_spend: daily,
      lasts_until: endOf(available, daily, now),
    };
  }
}

function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** Returns when `available` credits run out at this daily spend; null when not within ten years. */
function endOf(available: number, perDay: number, now: Date): string | null {
  const days = perDay > 0 ? Math.max(0, available) / perDay : Infinity;
  return days > MAX_LASTS_DAYS ? null : new Date(now.getTime() + days * DAY_MS).toISOString();
}

/** Returns the limit that is reached first; null when there is none. */
function lowest(limits: readonly (number | null | undefined)[]): number | null {
  const set = limits.filter((limit) => limit != null);
  return set.length === 0 ? null : Math.min(...set);
}
