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
const asking = (asked: RequestOptions, fields = {}) => windowRow(0, { asked, ...fields });

const oneVersion = (catalogue: ReplayVersion['catalogue']) => {
  const document = { models: [], providers: [], settings: {} };
  return new Map([[1, { number: 1, document, catalogue }]]);
};
/** The usual model at openai alone, and another at azure. */
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

describe(`${Replay.name} of what was asked`, () => {
  it.each<[RequestOptions, string]>([
    [{ only: ['openai'] }, 'failed'],
    [{ ignore: ['azure'] }, 'failed'],
    [{ allow_fallbacks: false }, 'failed'],
    [{ max_price: { prompt: '1.5' } }, 'failed'],
    // At azure it could cost 2 × 1,000 + 3 × 500.
    [{ max_cost: 3_499, max_tokens: 500 }, 'failed'],
    [{ max_cost: 3_500, max_tokens: 500 }, 'answered'],
    [{ max_price: { prompt: '2' } }, 'answered'],
    [{ order: ['openai'] }, 'answered'],
  ])('keeps to %j where a vendor is away', async (asked, outcome) => {
    const { results } = await replayRows([asking(asked)], { without: 'openai', learned });
    expect(results).toMatchObject([{ outcome }]);
  });

  it.each<[RequestOptions, string]>([
    [{ order: ['azure'] }, 'azure'],
    [{ sort: { by: 'price', partition: 'model' } }, 'openai'],
    [{ route: 'sort' }, 'openai'],
    [{ max_tokens: 500 }, 'azure'],
  ])('begins where %j says, else where the log did', async (asked, provider) => {
    const { results } = await replayRows([azureRow(0, { asked })], { learned: [windowRow(0)] });
    expect(results).toMatchObject([{ provider }]);
  });

  it('walks the chain that was asked for, which the attempts alone do not show', async () => {
    const away = { without: 'openai', world: twoModels, learned };
    const known = await replayRows([asking({ models: [MODEL, OTHER] })], away);
    expect(known.results).toMatchObject([{ outcome: 'answered', provider: 'azure' }]);
    const single = await replayRows([asking({ max_tokens: 500 })], away);
    expect(single.results).toMatchObject([{ outcome: 'failed' }]);
    // Of models that there are no more, the others are left.
    const gone = await replayRows([asking({ models: ['a/gone', MODEL] })], { world: twoModels });
    expect(gone.results).toMatchObject([{ outcome: 'answered', provider: 'openai' }]);
  });

  it('infers the chain where its lists were too long for the log', () => {
    const attempts = [attempt({ route: 'p/a/b', outcome: 'server' }), attempt()];
    const row = asking({ is_cut: true, n: 2 }, { attempts });
    const request = requestOf(row, NO_USAGE, 'chat');
    expect(request).toMatchObject({ models: ['a/b', MODEL], choices: 2 });
  });

  it('sets aside what its limit on the output takes, and no more', async () => {
    const tenantBalances = {
      balances: new Map([[TENANT, 3_000]]),
      tenantLimits: new Map(),
      keyLimits: new Map(),
    };
    const limited = await replayRows([asking({ max_tokens: 500 })], { world: { tenantBalances } });
    expect(limited.results).toMatchObject([{ outcome: 'answered', cost: 2_000 }]);
    const { results } = await replayRows([windowRow(0)], { world: { tenantBalances } });
    expect(results).toMatchObject([{ outcome: 'no_credits' }]);
  });

  it.each<[RequestOptions, number]>([
    [{ service_tier: 'flex', own_account_for: 'service_tier' }, 1_000],
    [{ inference_geo: 'us', own_account_for: 'inference_geo' }, 4_000],
    [{ max_tokens: 600 }, 2_000],
  ])('charges by the prices that %j chose', async (asked, cost) => {
    const half = { pricing: { prompt: '0.0000005', completion: '0.000001' } };
    const double = { pricing: { prompt: '0.000002', completion: '0.000004' } };
    const row = { ...CATALOGUE_ROW, service_tiers: { flex: half }, regions: { us: double } };
    const world = { versions: oneVersion(new Map([[MODEL, row]])) };
    const { results } = await replayRows([asking(asked)], { world });
    expect(results).toMatchObject([{ outcome: 'answered', cost, vendorCost: cost }]);
  });

  it('has no route for a tier that no price is known of', async () => {
    const asked = { service_tier: 'flex', own_account_for: 'service_tier' };
    const { results } = await replayRows([asking(asked)]);
    expect(results).toMatchObject([{ outcome: 'failed', errorType: 'invalid_request_error' }]);
  });

  it('charges no more than was allowed', async () => {
    const row = asking({ max_cost: 2_000, max_tokens: 499 }, { completionTokens: 900 });
    const { results } = await replayRows([row]);
    expect(results).toMatchObject([{ cost: 2_000 }]);
  });

  it('asks a second route when the first is silent, as it was', async () => {
    const asked = { hedge_ms: 500 };
    // So many that the operator's share has room for one.
    const rows = Array.from({ length: 10 }, (_, index) => windowRow(index * 10_000, { asked }));
    const raced = azureRow(200_000, {
      ...{ asked, vendorCost: 3_700, firstTokenMs: 805, latencyMs: 1_805 },
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
    // Nobody knows when it would have come; not before it was closed.
    expect(away.results.at(-1)).toMatchObject({ provider: 'openai', outcome: 'answered' });
    expect(away.results.at(-1)!.firstMs).toBeGreaterThan(800);
    expect(calls.fault).toBe(0);
  });

  it('keeps the turns of a conversation together', async () => {
    const rows = Array.from({ length: 6 }, (_, index) =>
      windowRow(index * 20_000, { asked: { conversation: 'abc' }, attempts: [attempt()] }),
    );
    const faults = [];
    for (const account of ['us', 'eu']) {
      const options = { accounts: ['us', 'eu'], without: `openai@${account}` };
      faults.push((await replayRows(rows, options)).calls.fault);
    }
    // One of the two has it, and is asked twice before it moves for good.
    expect(faults.sort()).toEqual([0, 2]);
  });
});

describe(`${Replay.name} of denser traffic`, () => {
  const rows = Array.from({ length: 10 }, (_, index) => windowRow(index * 12_000));
  const tooMany = (results: readonly { outcome: string }[]) =>
    results.filter(({ outcome }) => outcome === 'too_many').length;

  it('meets the limits of minutes when requests come faster', async () => {
    const world = { callers: new Map([[KEY, { caller, subjects: undefined }]]) };
    const usual = await replayRows(rows, { world, limits: 'minutes' });
    expect(tooMany(usual.results)).toBe(0);
    const { results } = await replayRows(rows, { world, limits: 'minutes', speed: 10 });
    expect(tooMany(results)).toBe(5);
    // Vendors are no faster for it.
    expect(results[0]).toMatchObject({ firstMs: 205, totalMs: 1_005 });
  });

  it.each([
    ['requests_per_minute', 5, 5],
    // A prompt counts by its tokens, and at its end by all of them.
    ['tokens_per_minute', 6_000, 6],
    ['max_in_flight', 1, 0],
  ] as const)('meets %s of a tenant', async (limit, most, atEase) => {
    const subject = limitedSubject('tenant', TENANT, [{ [limit]: most }])!;
    const world = {
      callers: new Map([
        [KEY, { caller: { ...caller, rateLimitPerMinute: 99 }, subjects: [subject] }],
      ]),
    };
    const { results } = await replayRows(rows, { world, limits: 'minutes', speed: 10 });
    const usual = await replayRows(rows, { world, limits: 'open', speed: 100 });
    expect(tooMany(results)).toBe(atEase);
    // Without minutes, 10 requests within 1.2 seconds of which each takes one.
    expect(tooMany(usual.results)).toBe(limit === 'max_in_flight' ? 8 : 0);
  });

  it('takes a vendor away for the same requests', async () => {
    const from = WINDOW.from.getTime();
    const span = { from: new Date(from + 24_000), to: new Date(from + 48_000) };
    const { results } = await replayRows(rows, {
      ...{ without: 'openai', kind: 'gone', learned, span, speed: 10 },
    });
    const moved = results.map(({ provider }) => provider === 'azure');
    expect(moved.flatMap((isMoved, index) => (isMoved ? [index] : []))).toEqual([2, 3]);
  });

  it('grants credits when they were granted', async () => {
    const tenantBalances = {
      balances: new Map([[TENANT, 0]]),
      tenantLimits: new Map(),
      keyLimits: new Map(),
    };
    const movements = [
      { atMs: WINDOW.from.getTime() + 30_000, tenantId: TENANT, credits: 1_000_000 },
    ];
    const { results } = await replayRows(rows, { world: { tenantBalances, movements }, speed: 10 });
    expect(results.filter(({ outcome }) => outcome === 'no_credits')).toHaveLength(3);
  });
});
