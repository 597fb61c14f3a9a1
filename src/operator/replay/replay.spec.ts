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
const purse = (credits: number) => ({
  tenantBalances: {
    balances: new Map([[TENANT, credits]]),
    tenantLimits: new Map(),
    keyLimits: new Map(),
  },
});

describe(Replay.name, () => {
  it('comes to what the log says where nothing is changed', async () => {
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

  it('moves what a vendor that is taken away had served to the next, at its prices', async () => {
    const { results, calls } = await replayRows([windowRow(MINUTE_MS), azureRow(2 * MINUTE_MS)], {
      without: 'openai',
    });
    // Two calls that fail after 250 ms each, since the first is tried again at once.
    expect(results[0]).toMatchObject({ provider: 'azure', cost: 3_500, vendorCost: 3_500 });
    expect(results[0]).toMatchObject({ firstMs: 5 + 500 + 300, totalMs: 5 + 500 + 1_300 });
    expect(results[1]).toMatchObject({ provider: 'azure', cost: 3_500, totalMs: 1_305 });
    expect(calls).toEqual({ fault: 2, log: 1, learned: 1, guessed: 0 });
  });

  it('asks a vendor that is away no more than the breaker lets it', async () => {
    const rows = Array.from({ length: 40 }, (_, index) => windowRow(MINUTE_MS + index * 5_000));
    const { results, calls } = await replayRows(rows, {
      without: `openai:${MODEL.split('/')[1]}`,
      learned: [azureRow(0)],
    });
    expect(results.every(({ provider }) => provider === 'azure')).toBe(true);
    const fast = results.filter(({ firstMs }) => firstMs === 305);
    // Pauses of ten seconds, each with one probe, behind the first five failures.
    expect(fast.length).toBeGreaterThan(15);
    expect(calls.fault).toBeLessThan(40);
  });

  it.each([
    ['gone', 305, 0],
    ['connect', 355, 1],
    ['429', 455, 1],
    ['timeout', 60_305, 1],
  ] as const)('takes a vendor away that is %s', async (kind, firstMs, fault) => {
    const { results, calls } = await replayRows([windowRow(0)], {
      ...{ without: 'openai', kind, learned: [azureRow(0)] },
    });
    expect(results).toMatchObject([{ provider: 'azure', firstMs, cost: 3_500 }]);
    expect(calls.fault).toBe(fault);
  });

  it('takes it away for as long as was said, and nothing else', async () => {
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

  it('fails where nobody else has the model', async () => {
    const { results } = await replayRows([windowRow(0)], {
      without: 'openai',
      world: {
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

  it('plays the winner of a race again, and counts what the other took', async () => {
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

  it('takes one account of several away, whose share goes to the others', async () => {
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

  it('guesses how fast a route is that nobody asked, and says so', async () => {
    const { results, calls } = await replayRows([windowRow(0)], { without: 'openai' });
    // By the same model at the other vendor.
    expect(results).toMatchObject([{ provider: 'azure', totalMs: 5 + 500 + 1_000 }]);
    expect(calls.guessed).toBe(1);
  });

  it('refuses what credits do not reach for, until some are granted', async () => {
    // A hold is 1,000 for the prompt and 4,096 tokens of output at 2.
    const rows = [windowRow(0), windowRow(5_000), windowRow(10_000), windowRow(20_000)];
    const movements = [{ atMs: WINDOW.from.getTime() + 15_000, tenantId: TENANT, credits: 9_000 }];
    const { results } = await replayRows(rows, { world: { ...purse(10_000), movements } });
    expect(results.map(({ outcome, cost }) => [outcome, cost])).toEqual([
      ['answered', 2_000],
      ['no_credits', 0],
      ['no_credits', 0],
      ['answered', 2_000],
    ]);
    const poorer = await replayRows([windowRow(0)], {
      ...{ without: 'openai', kind: 'gone', world: purse(10_000), learned: [azureRow(0)] },
    });
    expect(poorer.results).toMatchObject([{ outcome: 'no_credits' }]);
  });

  it('skips a dearer route for which the credits do not reach', async () => {
    const { results } = await replayRows([windowRow(0)], {
      ...{ without: 'openai', world: purse(10_000), learned: [azureRow(0)] },
    });
    expect(results).toMatchObject([{ outcome: 'failed', cost: 0 }]);
  });

  it('keeps to monthly limits of tenants and keys, which begin anew with a month', async () => {
    const caller = {
      tenantId: TENANT,
      apiKeyId: KEY,
      keyType: 'routing' as const,
      keyName: '',
      rateLimitPerMinute: 60,
      spendLimits: { key: 12_500, tenant: 50_000 },
    };
    const world = {
      callers: new Map([[KEY, { caller, subjects: undefined }]]),
      tenantBalances: {
        balances: new Map([[TENANT, 1_000_000]]),
        tenantLimits: new Map([[TENANT, { limit: 50_000, spent: 0 }]]),
        keyLimits: new Map([[KEY, { limit: 12_500, spent: 1_000 }]]),
      },
    };
    const month = 31 * 24 * 60 * MINUTE_MS;
    const rows = [0, 10_000, 20_000, month].map((ms) => windowRow(ms));
    const { results } = await replayRows(rows, { world });
    expect(results.map(({ outcome }) => outcome)).toEqual([
      'answered',
      'answered',
      'no_credits',
      'answered',
    ]);
    const ofTenant = {
      ...world.tenantBalances,
      tenantLimits: new Map([[TENANT, { limit: 9, spent: 0 }]]),
    };
    const limited = await replayRows(rows, { world: { ...world, tenantBalances: ofTenant } });
    expect(limited.results.every(({ outcome }) => outcome === 'no_credits')).toBe(true);
  });

  it("counts requests of more traffic against their keys' minutes", async () => {
    const caller = {
      ...{ tenantId: TENANT, apiKeyId: KEY, keyType: 'routing' as const, keyName: '' },
      rateLimitPerMinute: 3,
    };
    const world = { callers: new Map([[KEY, { caller, subjects: undefined }]]) };
    const rows = [windowRow(0), windowRow(1_000), windowRow(MINUTE_MS)];
    const { results } = await replayRows(rows, { world, copies: 2, limits: 'minutes' });
    expect(results.filter(({ outcome }) => outcome === 'too_many')).toHaveLength(1);
  });

  it("charges the fee over tenants' own accounts, and goes nowhere else without leave", async () => {
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
      world: { credentials: new Map([[TENANT, [credential]]]) },
    });
    expect(allowed.results).toMatchObject([{ provider: 'azure', cost: 3_500 }]);
  });

  it('counts as the log has it what cannot be played again', async () => {
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
      ...{ without: 'openai', world: { cachedSheets: new Set(['kept']) } },
    });
    expect(results).toMatchObject([
      { isPlayed: false, outcome: 'answered', cost: 0, totalMs: 1_005 },
      { isPlayed: false, outcome: 'answered', cost: 77 },
      { isPlayed: false, outcome: 'failed' },
      { isPlayed: false, outcome: 'no_credits' },
    ]);
  });
});
