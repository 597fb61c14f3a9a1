import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { imageRequest, videoRequest } from '../../../test/support/media-requests.js';
import { messagesRequest } from '../../../test/support/messages-requests.js';
import { asServed, isUnrequested } from '../../canonical/served-prices.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import { builtInRows, mergeRows, toCatalogue } from '../catalogue/load-catalogue.js';
import type { Model } from '../catalogue/catalogue.types.js';
import { readAllowance } from '../../vendors/account-allowance.js';
import { exactPricingOf } from '../catalogue/exact-pricing-of.js';
import { creditsFor } from '../ledger/hold.js';
import { priceRoute, totalOf } from '../ledger/pricing.js';
import { quoteRoute } from '../ledger/quote-route.js';
import type { PoolMember } from './pool/pool-member.js';
import type { RoutingState } from './routing-state.js';
import { selectRoutes } from './select-routes.js';

const STATE: RoutingState = {
  isConfigured: () => true,
  vendorOf: () => ({ passesTier: () => true }),
  isCooling: () => false,
  isPaused: () => false,
  speedOf: () => undefined,
  wholeLatencyMs: () => undefined,
  isToBeMeasured: () => false,
  limits: {
    connectTimeoutMs: 5_000,
    firstByteTimeoutMs: undefined,
    idleTimeoutMs: 60_000,
    requestTimeoutMs: 600_000,
    cooldownMs: 30_000,
  },
  byokFeePercent: 5,
  byok: [],
};

/**
 * Credits per token: 2 and 10; half at flex, twice at priority; twice as much again for long
 * prompts.
 */
const ROW = {
  id: 'local/tiers',
  context_length: 1_000_000,
  pricing: { prompt: '0.000002', completion: '0.00001', input_cache_read: '0.000001' },
  long_prompts: [
    {
      above: 200_000,
      pricing: { prompt: '0.000004', completion: '0.00002', input_cache_read: '0.000002' },
    },
  ],
  service_tiers: {
    flex: {
      pricing: { prompt: '0.000001', completion: '0.000005', input_cache_read: '0.0000005' },
      long_prompts: [{ above: 200_000, pricing: { prompt: '0.000002', completion: '0.00001' } }],
    },
    priority: {
      pricing: { prompt: '0.000004', completion: '0.00002', input_cache_read: '0.000002' },
      long_prompts: [{ above: 200_000, pricing: { prompt: '0.000008', completion: '0.00004' } }],
    },
    batch: { pricing: { prompt: '0.0000001' } },
  },
};

function modelOf(row: Record<string, unknown>): Model {
  const { models, problems } = toCatalogue(new Map([[String(row.id), row]]));
  expect(problems).toEqual([]);
  return models[0]!;
}

function planned(request: RoutableRequest, row: Record<string, unknown>, state = STATE) {
  return selectRoutes(request, [modelOf(row)], state)[0];
}

const LONG = [{ role: 'user', content: 'four '.repeat(300_000) }];
const SHORT = [{ role: 'user', content: 'Hello' }];
const MOST = 100;

function ask(fields: Record<string, unknown>, row: Record<string, unknown> = ROW, state = STATE) {
  return planned(chatRequest({ messages: SHORT, max_tokens: MOST, ...fields }), row, state);
}

type Route = ReturnType<typeof planned>;

const holdOf = (route: Route): number => creditsFor(route).least;
const chargeOf = (route: Route, usage: Partial<Usage>): number => {
  const whole = { ...NO_USAGE, ...usage };
  return totalOf(priceRoute(whole, asServed(route, whole)));
};

describe('prices by service tier', () => {
  it.each([
    // requested, served, credits per prompt and answer token
    ['priority', 'priority', 8, 40],
    ['priority', 'default', 4, 20],
    ['priority', undefined, 8, 40],
    ['auto', 'fast', 8, 40],
    ['priority', 'scale', 8, 40],
    ['flex', 'flex', 2, 10],
    ['flex', 'default', 4, 20],
    ['flex', undefined, 2, 10],
    ['auto', 'priority', 8, 40],
    ['auto', undefined, 4, 20],
    ['default', 'default', 4, 20],
    [undefined, 'flex', 2, 10],
    [undefined, undefined, 4, 20],
  ])(
    'of a 300,000-token prompt requesting %s and served at %s are %d and %d',
    (asked, servedTier, prompt, completion) => {
      const route = ask({ messages: LONG, service_tier: asked });
      const usage = { inputTokens: 300_000, outputTokens: 50, ...(servedTier && { servedTier }) };
      const charge = chargeOf(route, usage);
      expect(charge).toBe(300_000 * prompt + 50 * completion);
      const { inputTokens } = route.ceiling;
      expect(inputTokens).toBeGreaterThanOrEqual(300_000);
      const isPriority = asked === 'priority' || asked === 'auto';
      expect(holdOf(route)).toBe(
        inputTokens * (isPriority ? 8 : 4) + MOST * (isPriority ? 40 : 20),
      );
      expect(isUnrequested(asServed(route, usage))).toBe(
        asked === undefined && servedTier === 'flex',
      );
    },
  );

  it('use the tier for a short prompt, cached tokens included', () => {
    const usage = { inputTokens: 10, cacheReadTokens: 4, outputTokens: 5 };
    const route = ask({ service_tier: 'flex' });
    expect(chargeOf(route, { ...usage, servedTier: 'flex' })).toBe(6 + 2 + 25);
    expect(chargeOf(route, { ...usage, servedTier: 'default' })).toBe(12 + 4 + 50);
    expect(holdOf(route)).toBe(route.ceiling.inputTokens * 2 + MOST * 10);
  });

  it('fall back to the row’s long-prompt prices, but never below the tier’s', () => {
    const tiers = {
      priority: { pricing: { prompt: '0.000005' } },
      flex: { pricing: { prompt: '0.000001' } },
    };
    const row = { ...ROW, service_tiers: tiers };
    const usage = { inputTokens: 300_000, outputTokens: 0 };
    expect(chargeOf(ask({ service_tier: 'priority' }, row), usage)).toBe(300_000 * 5);
    expect(chargeOf(ask({ service_tier: 'flex' }, row), usage)).toBe(300_000 * 4);
  });

  it('name their tier', () => {
    const route = ask({ service_tier: 'flex' });
    expect(asServed(route, { servedTier: 'flex' }).servedAs).toBe('flex');
    expect(asServed(route, { servedTier: 'default' }).servedAs).toBeUndefined();
    const plain = ask({}, { id: 'local/plain', pricing: ROW.pricing });
    expect(plain.offer).toBeUndefined();
    expect(asServed(plain, { servedTier: 'flex' })).toBe(plain);
  });

  it('give the quote’s expected price, and the highest for the hold', () => {
    const fields = { messages: SHORT, max_tokens: MOST, service_tier: 'flex' };
    const { likely, worst } = quoteRoute(chatRequest(fields), ask(fields), 1e9, 20);
    expect(likely).toBeLessThan(20 * 5 + 10);
    expect(worst).toBe(holdOf(ask(fields)));
  });

  it('are rejected where none exist, naming the available ones', () => {
    const refused = /`service_tier` has no price for this value.*flex or priority, or leave it out/;
    expect(() => ask({ service_tier: 'scale' })).toThrow(refused);
    expect(() => ask({ service_tier: 'batch' })).toThrow(refused);
    const plain = { id: 'local/plain', pricing: ROW.pricing };
    expect(() => ask({ service_tier: 'flex' }, plain)).toThrow(/not available on shared capacity/);
    expect(() => ask({ service_tier: 7 })).toThrow(/not available on shared capacity/);
  });

  it('are rejected where the vendor would not receive the tier, or a fallback has no price', () => {
    const deaf = { ...STATE, vendorOf: () => ({}) };
    expect(() => ask({ service_tier: 'flex' }, ROW, deaf)).toThrow(/not available on shared/);
    const routes = [
      { provider: 'local', model: 'a', priority: 0 },
      { provider: 'other', model: 'a', priority: 1 },
    ];
    const request = chatRequest({ messages: SHORT, service_tier: 'flex' });
    const left = selectRoutes(request, [modelOf({ ...ROW, routes })], STATE);
    expect(left.map(({ provider }) => provider)).toEqual(['local']);
  });

  it('do not admit other unpriced options', () => {
    const fields = { service_tier: 'flex', tools: [{ type: 'code_interpreter' }] };
    expect(() => ask(fields)).toThrow(/tools\.0\.type/);
  });
});

describe('prices by region', () => {
  const row = {
    ...ROW,
    regions: { us: { pricing: { prompt: '0.0000022', completion: '0.000011' } } },
  };
  const words = (fields: object = {}) =>
    planned(messagesRequest({ messages: SHORT, max_tokens: MOST, ...fields }), row);
  const usage = { inputTokens: 1_000, outputTokens: 100 };

  it.each([
    [{ inference_geo: 'us' }, 'us', 2_200 + 1_100],
    [{ inference_geo: 'us' }, undefined, 2_200 + 1_100],
    [{ inference_geo: 'us' }, 'not_available', 2_200 + 1_100],
    [{ inference_geo: 'us' }, 'global', 2_000 + 1_000],
    [{}, 'us', 2_200 + 1_100],
    [{}, undefined, 2_000 + 1_000],
  ])('of %j served in %s', (fields, servedRegion, credits) => {
    const route = words(fields);
    expect(chargeOf(route, { ...usage, ...(servedRegion && { servedRegion }) })).toBe(credits);
  });

  it('are held for, and combine with tiers and long prompts', () => {
    const route = words({ inference_geo: 'us' });
    expect(holdOf(route)).toBe(Math.ceil(route.ceiling.inputTokens * 2.2 + MOST * 11));
    const there = { ...usage, servedRegion: 'us', servedTier: 'priority' };
    expect(chargeOf(route, there)).toBe(4_400 + 2_200);
    const long = { ...there, servedTier: 'default', inputTokens: 300_000 };
    expect(chargeOf(route, long)).toBe(300_000 * 4.4 + 2_200);
    expect(asServed(route, there)).toMatchObject({ servedAs: 'priority us' });
    expect(isUnrequested(asServed(route, there))).toBe(true);
  });

  it('are rejected where none exist, naming the available ones', () => {
    expect(() => words({ inference_geo: 'eu' })).toThrow(
      /`inference_geo` has no price for this value.* us, or/,
    );
  });

  it('follow the account’s location, whatever the answer says', () => {
    const regions = {
      'us-east5': { pricing: { prompt: '0.000003' } },
      europe: { pricing: { prompt: '0.000004' } },
    };
    const at = (region: string) => ({ ...STATE, vendorOf: () => ({ region }) });
    const charge = (region: string) =>
      chargeOf(ask({}, { ...ROW, regions }, at(region)), { inputTokens: 1_000 });
    expect(charge('us-east5')).toBe(3_000);
    expect(charge('europe-west4')).toBe(4_000);
    expect(charge('us-east1')).toBe(2_000);
    expect(charge('global')).toBe(2_000);
  });
});

describe('prices by size', () => {
  const image = {
    id: 'local/pictures',
    kind: 'image',
    pricing: { image: '0.04' },
    sizes: [
      { size: '1024x1024', pricing: { image: '0.04' } },
      { size: '1024x1024', quality: 'hd', pricing: { image: '0.08' } },
      { size: '1024x1792', quality: 'standard', pricing: { image: '0.07' } },
      { size: '1024x1792', quality: 'hd', pricing: { image: '0.12' } },
      { quality: 'low', pricing: { image: '0.01' } },
    ],
  };

  const { routing } = chatRequest();
  const made = <Request extends object>(request: Request, used: Partial<Usage>) => ({
    ...request,
    routing,
    ceiling: { ...NO_USAGE, ...used },
  });

  it.each([
    [{ size: '1024x1024' }, 40_000],
    [{ size: '1024x1024', quality: 'standard' }, 40_000],
    [{ size: '1024x1024', quality: 'hd' }, 80_000],
    [{ size: '1024x1792', quality: 'standard' }, 70_000],
    [{ size: '1024x1792' }, 120_000],
    [{ size: '256x256', quality: 'low' }, 10_000],
    [{ size: '4096x4096' }, 120_000],
    [{ size: 'auto', quality: 'auto' }, 120_000],
    [{ size: 7 }, 120_000],
    [{}, 120_000],
  ])('of an image of %j are %d credits', (fields, credits) => {
    const route = planned(made(imageRequest(fields), { imageCount: 2 }), image);
    expect(holdOf(route)).toBe(2 * credits);
    expect(chargeOf(route, { imageCount: 2 })).toBe(2 * credits);
  });

  it.each([
    [{ size: '1280x720' }, 100_000],
    [{ size: '720x1280' }, 100_000],
    [{ size: '1792x1024' }, 300_000],
    [{ size: '1920x1080' }, 500_000],
    [{}, 500_000],
  ])('of a second of video of %j are %d credits', (fields, credits) => {
    const video = {
      id: 'local/video',
      kind: 'video',
      pricing: { video_second: '0.5' },
      sizes: [
        { size: '720p', pricing: { video_second: '0.1' } },
        { size: '1792x1024', pricing: { video_second: '0.3' } },
        { size: '1080p', pricing: { video_second: '0.5' } },
      ],
    };
    const route = planned(made(videoRequest(fields), { videoSeconds: 4 }), video);
    expect(holdOf(route)).toBe(4 * credits);
    expect(chargeOf(route, { videoSeconds: 4 })).toBe(4 * credits);
  });
});

describe('prices that change on a date', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('stay those of the hold for a request that ends a day later', () => {
    const start = Date.parse('2027-01-01T00:00:00Z');
    let nowMs = start - 1;
    jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
    const catalogue = new CatalogueService({ catalogueFile: undefined });
    const change = {
      effective_from: '2027-01-01',
      pricing: { prompt: '0.000003', completion: '0.00002' },
      service_tiers: { flex: { pricing: { prompt: '0.000002', completion: '0.00001' } } },
    };
    catalogue.use(mergeRows(builtInRows(), [{ ...ROW, price_changes: [change] }]), 1);
    const next = () => {
      const request = chatRequest({ messages: SHORT, max_tokens: MOST, service_tier: 'flex' });
      return selectRoutes(request, [catalogue.find(ROW.id)!], STATE)[0];
    };
    const usage = { inputTokens: 10, outputTokens: 5, servedTier: 'flex' };
    const before = next();
    const held = holdOf(before);
    nowMs = start;
    const after = next();
    expect(chargeOf(before, usage)).toBe(10 + 25);
    expect(holdOf(before)).toBe(held);
    expect(held).toBe(before.ceiling.inputTokens * 2 + MOST * 10);
    expect(chargeOf(after, usage)).toBe(20 + 50);
    expect(holdOf(after)).toBe(after.ceiling.inputTokens * 3 + MOST * 20);
  });

  it('apply to pooled accounts without prices of their own only', () => {
    const own = exactPricingOf({ prompt: '0.000007', completion: '0.000007' });
    const change = { effective_from: '2020-01-01', pricing: { prompt: '0.000003' } };
    const model = modelOf({ ...ROW, price_changes: [change] });
    const member = { weight: 1, readAllowance };
    const pools: PoolMember[] = [
      { ...member, key: 'local@a', account: 'a' },
      { ...member, key: 'local@b', account: 'b', prices: new Map([[ROW.id, own]]) },
    ];
    const state: RoutingState = {
      ...STATE,
      poolOf: () => pools,
      pools: { order: (routes) => [...routes], waitMs: () => 0, expectedTokens: () => 0 },
    };
    const request = chatRequest({ messages: SHORT, max_tokens: MOST });
    const charges = selectRoutes(request, [model], state).map((route) =>
      chargeOf(route, { inputTokens: 10 }),
    );
    expect(charges).toEqual([30, 70]);
  });
});
