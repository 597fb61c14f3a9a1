import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute, tokenPricing } from '../../../test/support/catalogue-models.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { ByokCredential } from '../credentials/credential.repository.js';
import type { ByokAccess } from '../credentials/byok-upstreams.service.js';
import type { Model } from '../catalogue/catalogue.types.js';
import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import { sortRoutes } from './order-routes.js';
import type { HealthKey } from './route-health.js';
import type { RoutingState } from './routing-state.js';
import { selectRoutes } from './select-routes.js';

const at = (provider: string, prompt: string, completion: string) =>
  modelRoute(provider, { pricing: tokenPricing(prompt, completion) });
/** Input costs 3, 1 and 2 USD per million tokens; output costs twice that. */
const gpt = chatModel('one/gpt', [
  at('one', '0.000003', '0.000006'),
  at('two', '0.000001', '0.000002'),
  at('three', '0.000002', '0.000004'),
]);
const cheap = chatModel('four/cheap', [at('four', '0.0000005', '0.000001')]);

/** Medians. */
interface Measured {
  latency: number;
  whole: number;
  tokens: number;
}

interface Situation {
  speeds?: Record<string, Measured>;
  toBeMeasured?: string[];
  cooling?: string[];
  byok?: ByokAccess[];
}

const nameOf = ({ provider, byok }: HealthKey) => (byok ? `own ${provider}` : provider);
const flat = (value: number) => ({ p50: value, p75: value, p90: value, p99: value });

function select(
  fields: Record<string, unknown>,
  { speeds = {}, toBeMeasured = [], cooling = [], byok = [] }: Situation = {},
  models: readonly Model[] = [gpt],
) {
  const state: RoutingState = {
    isConfigured: () => true,
    vendorOf: () => ({}),
    isCooling: ({ provider }) => cooling.includes(provider),
    isPaused: () => false,
    speedOf: (key) => {
      const known = speeds[nameOf(key)];
      return known && { latencyMs: flat(known.latency), tokensPerSecond: flat(known.tokens) };
    },
    wholeLatencyMs: (key) => speeds[nameOf(key)]?.whole,
    isToBeMeasured: ({ provider }) => toBeMeasured.includes(provider),
    limits: {
      connectTimeoutMs: 5_000,
      firstByteTimeoutMs: undefined,
      idleTimeoutMs: 60_000,
      requestTimeoutMs: 600_000,
      cooldownMs: 30_000,
    },
    byokFeePercent: 5,
    byok,
  };
  return selectRoutes(chatRequest(fields), models, state);
}

const providersOf = (...rest: Parameters<typeof select>) =>
  select(...rest).map(({ provider, trafficMode }) =>
    trafficMode === 'byok' ? `own ${provider}` : provider,
  );

function account(provider: string, allowSharedFallback = true): ByokAccess {
  const credential = new ByokCredential({
    id: `own ${provider}`,
    provider,
    allowSharedFallback,
    settings: {},
    encryptedKey: Buffer.from('signed'),
  });
  return { credential, hasTenantAddress: false };
}

const speed = (latency: number, whole: number, tokens: number): Measured => ({
  latency,
  whole,
  tokens,
});
const SPEEDS = {
  one: speed(300, 1_000, 50),
  two: speed(200, 3_000, 90),
  three: speed(100, 2_000, 70),
};

describe(sortRoutes.name, () => {
  it.each<[string, Record<string, unknown>, string[]]>([
    ['price', { provider: { sort: 'price' } }, ['two', 'three', 'one']],
    ['its object', { provider: { sort: { by: 'price' } } }, ['two', 'three', 'one']],
    ['latency', { provider: { sort: 'latency' }, stream: true }, ['three', 'two', 'one']],
    ['latency of whole answers', { provider: { sort: 'latency' } }, ['one', 'three', 'two']],
    ['throughput', { provider: { sort: 'throughput' } }, ['two', 'three', 'one']],
    ['nothing', { provider: { sort: null } }, ['one', 'two', 'three']],
    ['an empty object', { provider: { sort: {} } }, ['one', 'two', 'three']],
    ['price after order', { provider: { sort: 'price', order: ['one'] } }, ['one', 'two', 'three']],
    ['latency of some', { provider: { sort: 'latency', ignore: ['one'] } }, ['three', 'two']],
  ])('orders by %s', (_, fields, expected) => {
    expect(providersOf(fields, { speeds: SPEEDS })).toEqual(expected);
  });

  it('keeps the models of a chain in order unless all routes are sorted together', () => {
    const models = [gpt, cheap];
    const sorted = (sort: unknown, more = {}) =>
      providersOf({ provider: { sort }, ...more }, {}, models);
    expect(sorted('price')).toEqual(['two', 'three', 'one', 'four']);
    expect(sorted({ by: 'price', partition: 'model' })).toEqual(['two', 'three', 'one', 'four']);
    expect(sorted({ by: 'price', partition: 'none' })).toEqual(['four', 'two', 'three', 'one']);
    expect(sorted('price', { route: 'sort' })).toEqual(['four', 'two', 'three', 'one']);
  });

  it('never puts a route in cooldown first', () => {
    const fields = { provider: { sort: 'latency' }, stream: true };
    expect(providersOf(fields, { speeds: SPEEDS, cooling: ['three'] })).toEqual(['two', 'one']);
  });

  it('tries routes to be measured first, and unknown ones last', () => {
    const fields = { provider: { sort: 'throughput' } };
    const { one, two } = SPEEDS;
    expect(providersOf(fields, { speeds: { one, two } })).toEqual(['two', 'one', 'three']);
    const toBeMeasured = ['three'];
    expect(providersOf(fields, { speeds: { one, two }, toBeMeasured })).toEqual([
      'three',
      'two',
      'one',
    ]);
    expect(providersOf(fields)).toEqual(['one', 'two', 'three']);
  });

  it('keeps a BYOK account before its provider’s shared capacity, except by price', () => {
    const speeds = { ...SPEEDS, three: speed(100, 2_000, 95), 'own three': speed(400, 1, 10) };
    const situation = { speeds, byok: [account('three')] };
    const by = (sort: string) => providersOf({ provider: { sort }, stream: true }, situation);
    expect(by('latency')).toEqual(['two', 'one', 'own three', 'three']);
    expect(by('throughput')).toEqual(['two', 'one', 'own three', 'three']);
    expect(by('price')).toEqual(['own three', 'two', 'three', 'one']);
  });
});

describe('provider.max_price', () => {
  const within = (max_price: unknown, situation: Situation = {}) =>
    providersOf({ provider: { max_price } }, situation);

  it.each<[string, unknown, string[]]>([
    ['the price of a prompt', { prompt: 2 }, ['two', 'three']],
    ['a decimal string', { prompt: '2.0' }, ['two', 'three']],
    ['the price of an answer', { completion: 3.999999 }, ['two']],
    ['both', { prompt: 2, completion: 2 }, ['two']],
    ['units without a price', { request: 0, image: 0 }, ['one', 'two', 'three']],
    ['nothing', {}, ['one', 'two', 'three']],
    ['null', { prompt: null }, ['one', 'two', 'three']],
  ])('applies %s', (_, maxPrice, expected) => {
    expect(within(maxPrice)).toEqual(expected);
  });

  it('counts the fee for a BYOK account', () => {
    // 5 % of 3 USD.
    expect(within({ prompt: 0.15 }, { byok: [account('one')] })).toEqual(['own one']);
    expect(() => within({ prompt: 0.149 }, { byok: [account('one')] })).toThrow(NotFoundError);
  });

  it('uses no shared capacity in place of an over-priced account that does not allow it', () => {
    const byok = [account('one', false)];
    const dear = chatModel('one/gpt', [
      modelRoute('one', { pricing: tokenPricing('0.001', '0.001') }),
      at('two', '0.000001', '0.000002'),
    ]);
    expect(() => select({ provider: { max_price: { prompt: 2 } } }, { byok }, [dear])).toThrow(
      NotFoundError,
    );
  });

  it('names the cheapest route and its price', () => {
    expect(() => within({ prompt: 0.5, completion: 2 })).toThrow(
      expect.objectContaining({
        status: 404,
        param: 'provider.max_price',
        message: expect.stringMatching(/one\/gpt at two, costs 1 USD per million input tokens:/),
      }),
    );
  });
});
