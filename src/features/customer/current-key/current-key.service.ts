import { Injectable } from '@nestjs/common';
import { strictestRates, type BudgetPeriod } from '../../../canonical/limits.js';
import type { ApiKeyEntity } from '../../../core/access/api-key.entity.js';
import { ApiKeyRepository } from '../../../core/access/api-key.repository.js';
import type { Caller } from '../../../core/access/caller.js';
import { AuthenticationError } from '../../../platform/errors/gateway-errors.js';
import { BudgetReader } from '../../../core/ledger/budget.reader.js';
import { BalanceReader } from '../../../core/ledger/balance.reader.js';
import { DAY_MS, startOfUtcDay, utcMonthOf } from '../../../platform/time/dates.js';
import { RequestLogAnalyticsReader } from '../../../core/request-log/request-log-analytics.reader.js';
import type { CurrentKeyRecordDto } from './current-key.dto.js';

const RATE_LIMIT_NOTE = 'Limit of model requests; see X-RateLimit-Limit.';

/** Period names of the compatibility API. */
const RESETS = {
  hour: 'hourly',
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  total: null,
} as const satisfies Record<BudgetPeriod, string | null>;

interface KeyBudget {
  limit: number;
  remaining: number;
  reset: CurrentKeyRecordDto['limit_reset'];
}

/** Returns permissions, spend and limits of the calling key in OpenRouter's shape. */
@Injectable()
export class CurrentKeyService {
  constructor(
    private readonly apiKeys: ApiKeyRepository,
    private readonly balances: BalanceReader,
    private readonly analytics: RequestLogAnalyticsReader,
    private readonly uses: BudgetReader,
  ) {}

  /** @param now determines the current day, week (from Monday) and month, in UTC */
  async get(caller: Caller, now: Date): Promise<CurrentKeyRecordDto> {
    const { tenantId, apiKeyId } = caller;
    const key = await this.apiKeys.findOfTenant(tenantId, apiKeyId);
    if (!key) throw new AuthenticationError('The API key is unknown.');
    const budget = await this.tightestOf(caller, key, now);
    const costs = [startOfUtcDay(now), startOfWeek(now), utcMonthOf(now).start].map((start) =>
      this.costSince(tenantId, apiKeyId, start),
    );
    const [daily, weekly, monthly] = await Promise.all(costs);
    const isManagementKey = key.type === 'management';
    return {
      label: key.name,
      usage: key.totalSpend,
      limit: budget?.limit ?? null,
      limit_remaining: budget?.remaining ?? null,
      is_free_tier: false,
      rate_limit: { requests: requestsOf(caller, key), interval: '1m', note: RATE_LIMIT_NOTE },
      usage_daily: daily!,
      usage_weekly: weekly!,
      usage_monthly: monthly!,
      limit_reset: budget?.reset ?? null,
      expires_at: key.expiresAt?.toISOString() ?? null,
      is_management_key: isManagementKey,
      is_provisioning_key: isManagementKey,
      include_byok_in_limit: false,
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      free_model_daily_requests: { limit: 0, used: 0, remaining: 0 },
      allowed_data_regions: [],
      creator_user_id: null,
      organization_id: null,
      workspace_id: null,
    };
  }

  /** Returns the tightest of the monthly limit and budgets of the key and its ancestors. */
  private async tightestOf(
    { tenantId, limits }: Caller,
    key: ApiKeyEntity,
    now: Date,
  ): Promise<KeyBudget | undefined> {
    const found: KeyBudget[] = [];
    if (key.monthlySpendLimit !== null) {
      const remaining = await this.remainingOf(key, now);
      found.push({ limit: key.monthlySpendLimit, remaining, reset: 'monthly' });
    }
    const subjects = limits?.subjects.filter(({ scope }) => scope === 'api_key') ?? [];
    const uses = await this.uses.useOf(tenantId, subjects);
    for (const [index, { budgets }] of subjects.entries()) {
      const use = uses[index]!;
      for (const { period, credits } of budgets) {
        const remaining = Math.max(0, credits - use[period] - use.held);
        found.push({ limit: credits, remaining, reset: RESETS[period] });
      }
    }
    return found.sort((one, other) => one.remaining - other.remaining)[0];
  }

  /** Returns the lowest remainder of the monthly limits of the key and its ancestors. */
  private async remainingOf(key: ApiKeyEntity, now: Date): Promise<number> {
    const left = (await this.apiKeys.ownSpendLimits([key.id, ...key.ancestorIds])).map(
      async ({ id, limit }) => limit - (await this.balances.usedByKey(id, now)),
    );
    return Math.max(0, Math.min(...(await Promise.all(left))));
  }

  private async costSince(tenantId: string, apiKeyId: string, start: Date): Promise<number> {
    const groups = await this.analytics.groupsOfTenant(tenantId, 'api_key', { start });
    return groups.find(({ group }) => group === apiKeyId)?.cost ?? 0;
  }
}

function startOfWeek(now: Date): Date {
  const today = startOfUtcDay(now);
  const daysSinceMonday = (today.getUTCDay() + 6) % 7;
  return new Date(today.getTime() - daysSinceMonday * DAY_MS);
}

function requestsOf({ limits }: Caller, { rateLimitPerMinute }: ApiKeyEntity): number {
  const { requests_per_minute: most = Infinity } = strictestRates(limits?.subjects ?? []);
  return Math.min(rateLimitPerMinute, most);
}
