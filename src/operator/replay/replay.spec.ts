import { describe, expect, it } from '@jest/globals';
import {
  attempt,
  azureRow,
  CATALOGUE_ROW,
  KEY,
  MODEL,
  replayRows,
  TENANT,
  WINDOW,
  windowRow,
} from '../../../test/support/replay-environment.js';
import { ByokCredential } from '../../core/credentials/credential.repository.js';
import { withoutLosers } from './log-window.js';
import { Replay } from './replay.js';

const MINUTE_MS = 60_000;
const tenantWith = (credits: number) => ({
  tenantBalances: {
    balances: new Map([[TENANT, credits]]),
    tenantLimits: new Map(),
    keyLimits: new Map(),
  },
});

describe(Replay.name, () => {
  it('reproduces the log without a change', async () => {
    const failed = windowRow(3_000, {
      status: 'error',
      outcome: 'failed',
      errorType: 'provider_error',
      cost: 0,
      vendorCost: 0,
      firstTokenMs: null,
      usageSource: 'none',
      promptTokens: 0,
      completionTokens: 0,
      attempts: [attempt({ outcome: 'server', status: 503, duration_ms: 90 })],
    });
    const moved = azureRow(4_000, {
      firstTokenMs: 700,
      latencyMs: 1_700,
      attempts: [
        attempt({ outcome: 'rate_limited', status: 429, duration_ms: 100 }),
        attempt({ route: `azure/${MODEL}`, started_ms: 110 }),
      ],
    });
    const left = windowRow(5_000, { outcome: 'cancelled', usageSource: 'none', cost: 0 });
    const { results, calls } = await replayRows([windowRow(1_000), failed, moved, left]);
    expect(results).toMatchObject([
      { outcome: 'answered', cost: 2_000, vendorCost: 2_000, firstMs: 205, totalMs: 1_005 },
      { outcome: 'failed', errorType: 'provider_error', cost: 0 },
      { outcome: 'answered', provider: 'azure', cost: 3_500, totalMs: 1_695 },
      { outcome: 'answered', cost: 0, vendorCost: 2_000 },
    ]);
    expect(calls).toMatchObject({ fault: 0, learned: 0, guessed: 0 });
  });

  it('moves requests of a removed vendor to the next one, at its prices', async () => {
    const { results, calls } = await replayRows([windowRow(MINUTE_MS), azureRow(2 * MINUTE_MS)], {
      without: 'openai',
    });
    // Two calls that fail after 250 ms each, since the first is retried once.
    expect(results[0]).toMatchObject({ provider: 'azure', cost: 3_500, vendorCost: 3_500 });
    expect(results[0]).toMatchObject({ firstMs: 5 + 500 + 300, totalMs: 5 + 500 + 1_300 });
    expect(results[1]).toMatchObject({ provider: 'azure', cost: 3_500, totalMs: 1_305 });
    expect(calls).toEqual({ fault: 2, log: 1, learned: 1, guessed: 0 });
  });

  it('calls a removed vendor no more than the circuit breaker allows', async () => {
    const rows = Array.from({ length: 40 }, (_, index) => windowRow(MINUTE_MS + index * 5_000));
    const { results, calls } = await replayRows(rows, {
      without: `openai:${MODEL.split('/')[1]}`,
      learned: [azureRow(0)],
    });
    expect(results.every(({ provider }) => provider === 'azure')).toBe(true);
    const fast = results.filter(({ firstMs }) => firstMs === 305);
    // After five failures, pauses of ten seconds with one probe each.
    expect(fast.length).toBeGreaterThan(15);
    expect(calls.fault).toBeLessThan(40);
  });

  it.each([
    ['gone', 305, 0],
    ['connect', 355, 1],
    ['429', 455, 1],
    ['timeout', 60_305, 1],
  ] as const)('simulates the fault %s', async (kind, firstMs, fault) => {
    const { results, calls } = await replayRows([windowRow(0)], {
      ...{ without: 'openai', kind, learned: [azureRow(0)] },
    });
    expect(results).toMatchObject([{ provider: 'azure', firstMs, cost: 3_500 }]);
    expect(calls.fault).toBe(fault);
  });

  it('removes only the given target for the given time', async () => {
    const hour = 60 * MINUTE_MS;
    const from = WINDOW.from.getTime();
    const { results } = await replayRows(
      [windowRow(hour - 10), windowRow(hour), windowRow(2 * hour)],
      {
        without: 'openai',
        span: { from: new Date(from + hour), to: new Date(from + 2 * hour) },
        learned: [azureRow(0)],
      },
    );
    expect(results.map(({ provider }) => provider)).toEqual(['openai', 'azure', 'openai']);
    const others = await replayRows([windowRow(0)], { without: 'openai:another' });
    expect(others.results).toMatchObject([{ provider: 'openai' }]);
    const account = await replayRows([windowRow(0)], { without: 'openai@eu' });
    expect(account.results).toMatchObject([{ provider: 'openai' }]);
  });

  it('fails requests that no other provider can serve', async () => {
    const { results } = await replayRows([windowRow(0)], {
      without: 'openai',
      environment: {
        versions: new Map([
          [
            1,
            {
              number: 1,
              document: { models: [], providers: [], settings: {} },
              catalogue: new Map([
                [
                  MODEL,
                  { ...CATALOGUE_ROW, routes: [{ provider: 'openai', model: 'x', priority: 0 }] },
                ],
              ]),
            },
          ],
        ]),
      },
    });
    expect(results).toMatchObject([{ outcome: 'failed', errorType: 'provider_error', cost: 0 }]);
  });

  it('replays the winner of a hedge and counts the cost of the loser', async () => {
    const raced = azureRow(0, {
      ...{ vendorCost: 3_700, firstTokenMs: 800, latencyMs: 1_800 },
      attempts: [
        attempt({ outcome: 'outpaced', vendor_cost: 200 }),
        attempt({ route: `azure/${MODEL}`, started_ms: 505, vendor_cost: 3_500 }),
      ],
    });
    const { results, calls } = await replayRows([withoutLosers(raced)]);
    expect(results).toMatchObject([{ provider: 'azure', cost: 3_500, vendorCost: 3_700 }]);
    expect(results).toMatchObject([{ firstMs: 800, totalMs: 1_800 }]);
    expect(calls).toMatchObject({ log: 1, learned: 0 });
  });

  it('removes one of several accounts, whose share moves to the others', async () => {
    const accounts = ['us', 'eu'];
    const rows = [0, 1].map((index) =>
      windowRow(index * 10_000, { attempts: [attempt({ account: 'eu' })] }),
    );
    const { results, calls } = await replayRows(rows, { accounts, without: 'openai@eu' });
    expect(results).toMatchObject([
      { provider: 'openai', cost: 2_000, firstMs: 5 + 500 + 200 },
      { provider: 'openai', cost: 2_000 },
    ]);
    expect(calls).toMatchObject({ fault: 4, log: 2 });
    const other = await replayRows(rows, { accounts, without: 'openai@us' });
    expect(other.calls).toMatchObject({ fault: 0, log: 2 });
  });

  it('guesses the speed of a route without calls and counts it as a guess', async () => {
    const { results, calls } = await replayRows([windowRow(0)], { without: 'openai' });
    // From the same model at the other vendor.
    expect(results).toMatchObject([{ provider: 'azure', totalMs: 5 + 500 + 1_000 }]);
    expect(calls.guessed).toBe(1);
  });

  it('refuses requests with insufficient credits until credits are granted', async () => {
    // A hold covers 1,000 for the prompt and 4,096 tokens of output at 2.
    const rows = [windowRow(0), windowRow(5_000), windowRow(10_000), windowRow(20_000)];
    const movements = [{ atMs: WINDOW.from.getTime() + 15_000, tenantId: TENANT, credits: 9_000 }];
    const { results } = await replayRows(rows, {
      environment: { ...tenantWith(10_000), movements },
    });
    expect(results.map(({ outcome, cost }) => [outcome, cost])).toEqual([
      ['answered', 2_000],
      ['no_credits', 0],
      ['no_credits', 0],
      ['answered', 2_000],
    ]);
    const poorer = await replayRows([windowRow(0)], {
      ...{
        without: 'openai',
        kind: 'gone',
        environment: tenantWith(10_000),
        learned: [azureRow(0)],
      },
    });
    expect(poorer.results).toMatchObject([{ outcome: 'no_credits' }]);
  });

  it('skips a more expensive route with insufficient credits', async () => {
    const { results } = await replayRows([windowRow(0)], {
      ...{ without: 'openai', environment: tenantWith(10_000), learned: [azureRow(0)] },
    });
    expect(results).toMatchObject([{ outcome: 'failed', cost: 0 }]);
  });

  it('applies monthly limits of tenants and keys, which reset each month', async () => {
    const caller = {
      tenantId: TENANT,
      apiKeyId: KEY,
      keyType: 'routing' as const,
      keyName: '',
      rateLimitPerMinute: 60,
      spendLimits: { key: 12_500, tenant: 50_000 },
    };
    const environment = {
      callers: new Map([[KEY, { caller, subjects: undefined }]]),
      tenantBalances: {
        balances: new Map([[TENANT, 1_000_000]]),
        tenantLimits: new Map([[TENANT, { limit: 50_000, spent: 0 }]]),
        keyLimits: new Map([[KEY, { limit: 12_500, spent: 1_000 }]]),
      },
    };
    const month = 31 * 24 * 60 * MINUTE_MS;
    const rows = [0, 10_000, 20_000, month].map((ms) => windowRow(ms));
    const { results } = await replayRows(rows, { environment });
    expect(results.map(({ outcome }) => outcome)).toEqual([
      'answered',
      'answered',
      'no_credits',
      'answered',
    ]);
    const ofTenant = {
      ...environment.tenantBalances,
      tenantLimits: new Map([[TENANT, { limit: 9, spent: 0 }]]),
    };
    const limited = await replayRows(rows, {
      environment: { ...environment, tenantBalances: ofTenant },
    });
    expect(limited.results.every(({ outcome }) => outcome === 'no_credits')).toBe(true);
  });

  it("counts added traffic towards the keys' rate limits", async () => {
    const caller = {
      ...{ tenantId: TENANT, apiKeyId: KEY, keyType: 'routing' as const, keyName: '' },
      rateLimitPerMinute: 3,
    };
    const environment = { callers: new Map([[KEY, { caller, subjects: undefined }]]) };
    const rows = [windowRow(0), windowRow(1_000), windowRow(MINUTE_MS)];
    const { results } = await replayRows(rows, { environment, copies: 2, limits: 'minutes' });
    expect(results.filter(({ outcome }) => outcome === 'too_many')).toHaveLength(1);
  });

  it('charges the BYOK fee and uses no shared capacity without permission', async () => {
    const own = windowRow(0, { trafficMode: 'byok', cost: 100, vendorCost: 0 });
    const { results } = await replayRows([own]);
    expect(results).toMatchObject([{ provider: 'openai', cost: 100, vendorCost: 0 }]);
    const away = await replayRows([own], { without: 'openai', learned: [azureRow(0)] });
    expect(away.results).toMatchObject([{ outcome: 'failed', cost: 0 }]);
    const credential = new ByokCredential({
      ...{ id: KEY, provider: 'openai', settings: {}, encryptedKey: Buffer.alloc(0) },
      allowSharedFallback: true,
    });
    const allowed = await replayRows([own], {
      ...{ without: 'openai', learned: [azureRow(0)] },
      environment: { credentials: new Map([[TENANT, [credential]]]) },
    });
    expect(allowed.results).toMatchObject([{ provider: 'azure', cost: 3_500 }]);
  });

  it('counts requests that cannot be replayed as logged', async () => {
    const rows = [
      windowRow(0, { priceSheet: 'kept', cost: 0 }),
      windowRow(1, { model: 'unknown/model', cost: 77 }),
      windowRow(2, {
        status: 'error',
        outcome: 'refused',
        errorType: 'guardrail_violation',
        cost: 0,
      }),
      windowRow(3, { status: 'error', outcome: 'refused', errorType: 'budget_exceeded', cost: 0 }),
    ];
    const { results } = await replayRows(rows, {
      ...{ without: 'openai', environment: { cachedSheets: new Set(['kept']) } },
    });
    expect(results).toMatchObject([
      { isPlayed: false, outcome: 'answered', cost: 0, totalMs: 1_005 },
      { isPlayed: false, outcome: 'answered', cost: 77 },
      { isPlayed: false, outcome: 'failed' },
      { isPlayed: false, outcome: 'no_credits' },
    ]);
  });
});
