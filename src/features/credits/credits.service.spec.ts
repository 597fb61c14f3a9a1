import { describe, expect, it, jest } from '@jest/globals';
import type { Caller } from '../../core/access/caller.js';
import type { BalanceReader } from '../../core/ledger/balance.reader.js';
import type {
  RequestLogAnalyticsReader,
  RequestLogGroup,
} from '../../core/request-log/request-log-analytics.reader.js';
import { CreditsService } from './credits.service.js';

const CALLER: Caller = {
  tenantId: '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01',
  apiKeyId: '1f2c1f6e-52a5-4a4e-8d8e-3c1d3a7b9f02',
  keyType: 'routing',
  keyName: 'a key',
  rateLimitPerMinute: 77,
};

const balanceOf = jest.fn<BalanceReader['balanceOf']>().mockResolvedValue({
  balance: 900,
  held: 150,
  available: 750,
  granted: 1000,
  spent: 100,
  requestCount: 12,
});
const monthOf = jest
  .fn<BalanceReader['monthOf']>()
  .mockResolvedValue({ spent: 30, requestCount: 4 });
const addedByDay = jest.fn<BalanceReader['addedByDay']>().mockResolvedValue(new Map());
const groupsOfTenant = jest.fn<RequestLogAnalyticsReader['groupsOfTenant']>().mockResolvedValue([]);
const service = new CreditsService(
  { balanceOf, monthOf, addedByDay } as unknown as BalanceReader,
  { groupsOfTenant } as unknown as RequestLogAnalyticsReader,
);

describe(CreditsService.name, () => {
  it('returns the total credits granted and spent', async () => {
    expect(await service.totals(CALLER)).toEqual({ total_credits: 1000, total_usage: 100 });
    expect(balanceOf).toHaveBeenLastCalledWith(CALLER.tenantId);
  });

  it('returns the balance, the UTC calendar month and the limit of the calling key', async () => {
    const lastOfYear = new Date('2026-12-31T23:59:59.999Z');
    expect(await service.overview(CALLER, lastOfYear)).toEqual({
      balance: { available: 750, held: 150, total: 900 },
      current_period: {
        start: '2026-12-01T00:00:00.000Z',
        end: '2027-01-01T00:00:00.000Z',
        spent: 30,
        requests: 4,
      },
      lifetime: { granted: 1000, spent: 100, requests: 12 },
      quotas: { requests_per_minute: 77, monthly_spend_limit: null },
    });
    expect(monthOf).toHaveBeenLastCalledWith(CALLER.tenantId, new Date('2026-12-01T00:00:00.000Z'));
  });

  it.each([
    [{ key: 5, tenant: null }, 5],
    [{ key: null, tenant: 7 }, 7],
    [{ key: 0, tenant: 7 }, 0],
    [{ key: 9, tenant: 7 }, 7],
  ])('returns the lower of the limits %j', async (spendLimits, expected) => {
    const { quotas } = await service.overview({ ...CALLER, spendLimits }, new Date());
    expect(quotas.monthly_spend_limit).toBe(expected);
  });

  describe('history', () => {
    const NOW = new Date('2026-11-23T12:00:00Z');
    const spentOn = (costs: Record<string, number>) =>
      groupsOfTenant.mockResolvedValueOnce(
        Object.entries(costs).map(
          ([day, cost]) => ({ group: `${day}T00:00:00Z`, cost }) as RequestLogGroup,
        ),
      );

    it('derives the balance at the end of each day from the current one', async () => {
      spentOn({ '2026-11-21': 70, '2026-11-23': 30 });
      addedByDay.mockResolvedValueOnce(new Map([['2026-11-22', 500]]));
      const { data } = await service.history(CALLER, 4, NOW);
      expect(data).toEqual([
        { day: '2026-11-20', added: 0, spent: 0, balance: 500 },
        { day: '2026-11-21', added: 0, spent: 70, balance: 430 },
        { day: '2026-11-22', added: 500, spent: 0, balance: 930 },
        { day: '2026-11-23', added: 0, spent: 30, balance: 900 },
      ]);
    });

    it('averages over seven full days, whatever number of days is returned', async () => {
      spentOn({ '2026-11-15': 9_999, '2026-11-16': 500, '2026-11-22': 550, '2026-11-23': 9_999 });
      const history = await service.history(CALLER, 1, NOW);
      expect(history.data).toHaveLength(1);
      expect(history.daily_spend).toBe(150);
      // 750 are available: five days.
      expect(history.lasts_until).toBe('2026-11-28T12:00:00.000Z');
    });

    it.each<Record<string, number>>([{}, { '2026-11-23': 700 }])(
      'forecasts no end when %j was spent',
      async (costs) => {
        spentOn(costs);
        const { daily_spend, lasts_until } = await service.history(CALLER, 30, NOW);
        expect({ daily_spend, lasts_until }).toEqual({ daily_spend: 0, lasts_until: null });
      },
    );
  });
});
