import { Injectable } from '@nestjs/common';
import { strictestBudgets, strictestRates } from '../../canonical/limits.js';
import type { Caller } from '../../core/access/caller.js';
import { utcMonthOf } from '../../platform/time/dates.js';
import { BalanceReader } from '../../core/ledger/balance.reader.js';
import type { CustomerCreditsDto, CreditTotalsDto } from './credits.dto.js';

@Injectable()
export class CreditsService {
  constructor(private readonly balances: BalanceReader) {}

  async totals(caller: Caller): Promise<CreditTotalsDto> {
    const { granted, spent } = await this.balances.balanceOf(caller.tenantId);
    return { total_credits: granted, total_usage: spent };
  }

  /** @param now decides which calendar month is the current one */
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
}

/** The limit that is reached first, going by the limits alone; null: there is none. */
function lowest(limits: readonly (number | null | undefined)[]): number | null {
  const set = limits.filter((limit) => limit != null);
  return set.length === 0 ? null : Math.min(...set);
}
