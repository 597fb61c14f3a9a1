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
import type { RequestOptions } from '../../canonical/request-options.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { limitedSubject } from '../../canonical/limits.js';
import type { ReplayVersion } from './replay-environment.js';
import { requestOf } from './replayed-request.js';
import { Replay } from './replay.js';

const OTHER = 'azure/other';
const learned = [azureRow(0)];
const rowWith = (requestOptions: RequestOptions, fields = {}) =>
  windowRow(0, { requestOptions, ...fields });

const oneVersion = (catalogue: ReplayVersion['catalogue']) => {
  const document = { models: [], providers: [], settings: {} };
  return new Map([[1, { number: 1, document, catalogue }]]);
};
/** Model entries at openai or azure only. */
const at = (id: string, provider: string) => ({
  ...CATALOGUE_ROW,
  ...{ id, routes: [{ provider, model: 'x', priority: 0 }] },
});
const twoModels = {
  versions: oneVersion(
    new Map([
      [MODEL, at(MODEL, 'openai')],
      [OTHER, at(OTHER, 'azure')],
    ]),
  ),
};
const caller = {
  ...{ tenantId: TENANT, apiKeyId: KEY, keyType: 'routing' as const, keyName: '' },
  rateLimitPerMinute: 5,
};

describe(`${Replay.name} with request options`, () => {
  it.each<[RequestOptions, string]>([
    [{ only: ['openai'] }, 'failed'],
    [{ ignore: ['azure'] }, 'failed'],
    [{ allow_fallbacks: false }, 'failed'],
    [{ max_price: { prompt: '1.5' } }, 'failed'],
    // At azure the request could cost 2 × 1,000 + 3 × 500.
    [{ max_cost: 3_499, max_tokens: 500 }, 'failed'],
    [{ max_cost: 3_500, max_tokens: 500 }, 'answered'],
    [{ max_price: { prompt: '2' } }, 'answered'],
    [{ order: ['openai'] }, 'answered'],
  ])('respects %j when a vendor is removed', async (requestOptions, outcome) => {
    const { results } = await replayRows([rowWith(requestOptions)], { without: 'openai', learned });
    expect(results).toMatchObject([{ outcome }]);
  });

  it.each<[RequestOptions, string]>([
    [{ order: ['azure'] }, 'azure'],
    [{ sort: { by: 'price', partition: 'model' } }, 'openai'],
    [{ route: 'sort' }, 'openai'],
    [{ max_tokens: 500 }, 'azure'],
  ])('orders routes by %j, otherwise as logged', async (requestOptions, provider) => {
    const { results } = await replayRows([azureRow(0, { requestOptions })], {
      learned: [windowRow(0)],
    });
    expect(results).toMatchObject([{ provider }]);
  });

  it('uses the requested fallback chain instead of the attempts', async () => {
    const away = { without: 'openai', environment: twoModels, learned };
    const known = await replayRows([rowWith({ models: [MODEL, OTHER] })], away);
    expect(known.results).toMatchObject([{ outcome: 'answered', provider: 'azure' }]);
    const single = await replayRows([rowWith({ max_tokens: 500 })], away);
    expect(single.results).toMatchObject([{ outcome: 'failed' }]);
    // Unknown models are skipped.
    const gone = await replayRows([rowWith({ models: ['a/gone', MODEL] })], {
      environment: twoModels,
    });
    expect(gone.results).toMatchObject([{ outcome: 'answered', provider: 'openai' }]);
  });

  it('infers the chain when the logged options were cut', () => {
    const attempts = [attempt({ route: 'p/a/b', outcome: 'server' }), attempt()];
    const row = rowWith({ is_cut: true, n: 2 }, { attempts });
    const request = requestOf(row, NO_USAGE, 'chat');
    expect(request).toMatchObject({ models: ['a/b', MODEL], choices: 2 });
  });

  it('holds no more than the output limit can cost', async () => {
    const tenantBalances = {
      balances: new Map([[TENANT, 3_000]]),
      tenantLimits: new Map(),
      keyLimits: new Map(),
    };
    const limited = await replayRows([rowWith({ max_tokens: 500 })], {
      environment: { tenantBalances },
    });
    expect(limited.results).toMatchObject([{ outcome: 'answered', cost: 2_000 }]);
    const { results } = await replayRows([windowRow(0)], { environment: { tenantBalances } });
    expect(results).toMatchObject([{ outcome: 'no_credits' }]);
  });

  it.each<[RequestOptions, number]>([
    [{ service_tier: 'flex', own_account_for: 'service_tier' }, 1_000],
    [{ inference_geo: 'us', own_account_for: 'inference_geo' }, 4_000],
    [{ max_tokens: 600 }, 2_000],
  ])('charges the prices selected by %j', async (requestOptions, cost) => {
    const half = { pricing: { prompt: '0.0000005', completion: '0.000001' } };
    const double = { pricing: { prompt: '0.000002', completion: '0.000004' } };
    const row = { ...CATALOGUE_ROW, service_tiers: { flex: half }, regions: { us: double } };
    const environment = { versions: oneVersion(new Map([[MODEL, row]])) };
    const { results } = await replayRows([rowWith(requestOptions)], { environment });
    expect(results).toMatchObject([{ outcome: 'answered', cost, vendorCost: cost }]);
  });

  it('has no route for a tier without a price', async () => {
    const requestOptions = { service_tier: 'flex', own_account_for: 'service_tier' };
    const { results } = await replayRows([rowWith(requestOptions)]);
    expect(results).toMatchObject([{ outcome: 'failed', errorType: 'invalid_request_error' }]);
  });

  it('charges no more than `max_cost`', async () => {
    const row = rowWith({ max_cost: 2_000, max_tokens: 499 }, { completionTokens: 900 });
    const { results } = await replayRows([row]);
    expect(results).toMatchObject([{ cost: 2_000 }]);
  });

  it('hedges a route that was silent in the log', async () => {
    const requestOptions = { hedge_ms: 500 };
    // Enough requests for one hedge within the operator's share.
    const rows = Array.from({ length: 10 }, (_, index) =>
      windowRow(index * 10_000, { requestOptions }),
    );
    const raced = azureRow(200_000, {
      ...{ requestOptions, vendorCost: 3_700, firstTokenMs: 805, latencyMs: 1_805 },
      attempts: [
        attempt({ outcome: 'outpaced', duration_ms: 800, vendor_cost: 200 }),
        attempt({ route: `azure/${MODEL}`, started_ms: 505 }),
      ],
    });
    const { results, calls } = await replayRows([...rows, raced]);
    expect(results.at(-1)).toMatchObject({ provider: 'azure', cost: 3_500, vendorCost: 3_700 });
    expect(results.at(-1)).toMatchObject({ firstMs: 805, totalMs: 1_805 });
    expect(results[0]).toMatchObject({ provider: 'openai', vendorCost: 2_000 });
    const away = await replayRows([...rows, raced], { without: 'azure' });
    // The superseded call's end is unknown, but not before it was closed.
    expect(away.results.at(-1)).toMatchObject({ provider: 'openai', outcome: 'answered' });
    expect(away.results.at(-1)!.firstMs).toBeGreaterThan(800);
    expect(calls.fault).toBe(0);
  });

  it('keeps a conversation at one account', async () => {
    const rows = Array.from({ length: 6 }, (_, index) =>
      windowRow(index * 20_000, { requestOptions: { conversation: 'abc' }, attempts: [attempt()] }),
    );
    const faults = [];
    for (const account of ['us', 'eu']) {
      const options = { accounts: ['us', 'eu'], without: `openai@${account}` };
      faults.push((await replayRows(rows, options)).calls.fault);
    }
    // One account has it cached and is called twice before the conversation moves for good.
    expect(faults.sort()).toEqual([0, 2]);
  });
});

describe(`${Replay.name} of denser traffic`, () => {
  const rows = Array.from({ length: 10 }, (_, index) => windowRow(index * 12_000));
  const tooMany = (results: readonly { outcome: string }[]) =>
    results.filter(({ outcome }) => outcome === 'too_many').length;

  it('applies per-minute limits when requests arrive faster', async () => {
    const environment = { callers: new Map([[KEY, { caller, subjects: undefined }]]) };
    const usual = await replayRows(rows, { environment, limits: 'minutes' });
    expect(tooMany(usual.results)).toBe(0);
    const { results } = await replayRows(rows, { environment, limits: 'minutes', speed: 10 });
    expect(tooMany(results)).toBe(5);
    // Vendors do not get faster.
    expect(results[0]).toMatchObject({ firstMs: 205, totalMs: 1_005 });
  });

  it.each([
    ['requests_per_minute', 5, 5],
    // A prompt counts with its estimate first and with all tokens at the end.
    ['tokens_per_minute', 6_000, 6],
    ['max_in_flight', 1, 0],
  ] as const)("applies a tenant's %s", async (limit, most, atEase) => {
    const subject = limitedSubject('tenant', TENANT, [{ [limit]: most }])!;
    const environment = {
      callers: new Map([
        [KEY, { caller: { ...caller, rateLimitPerMinute: 99 }, subjects: [subject] }],
      ]),
    };
    const { results } = await replayRows(rows, { environment, limits: 'minutes', speed: 10 });
    const usual = await replayRows(rows, { environment, limits: 'open', speed: 100 });
    expect(tooMany(results)).toBe(atEase);
    // Without per-minute limits: 10 requests within 1.2 seconds that take one second each.
    expect(tooMany(usual.results)).toBe(limit === 'max_in_flight' ? 8 : 0);
  });

  it('removes a vendor for the same requests', async () => {
    const from = WINDOW.from.getTime();
    const span = { from: new Date(from + 24_000), to: new Date(from + 48_000) };
    const { results } = await replayRows(rows, {
      ...{ without: 'openai', kind: 'gone', learned, span, speed: 10 },
    });
    const moved = results.map(({ provider }) => provider === 'azure');
    expect(moved.flatMap((isMoved, index) => (isMoved ? [index] : []))).toEqual([2, 3]);
  });

  it('adds grants at their original time', async () => {
    const tenantBalances = {
      balances: new Map([[TENANT, 0]]),
      tenantLimits: new Map(),
      keyLimits: new Map(),
    };
    const movements = [
      { atMs: WINDOW.from.getTime() + 30_000, tenantId: TENANT, credits: 1_000_000 },
    ];
    const { results } = await replayRows(rows, {
      environment: { tenantBalances, movements },
      speed: 10,
    });
    expect(results.filter(({ outcome }) => outcome === 'no_credits')).toHaveLength(3);
  });
});
