import { describe, expect, it } from '@jest/globals';
import { bad, GOOD, limited, type Script } from '../../../../test/support/routing-environment.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { RateLimitError } from '../../../platform/errors/gateway-errors.js';
import {
  world,
  ask,
  refusal,
  limits,
  countOf,
} from '../../../../test/support/pooled-environment.js';

describe('requests over a pool of operator accounts', () => {
  it('plan a route for each account before the next provider', async () => {
    const { routes } = await world({ a: {}, b: {} }).plan();
    expect(routes.map(({ provider, account }) => [provider, account]).sort()).toEqual([
      ['azure', undefined],
      ['openai', 'a'],
      ['openai', 'b'],
    ]);
    expect(routes[2]?.provider).toBe('azure');
  });

  it('hedge over another account unless it is at its limit', async () => {
    const silent = (): Script => ({ ...GOOD, silentMs: 1_000_000 });
    const hedged = { hedge_ms: 5 };
    const one = world(
      { a: { weight: 1e9 }, b: { weight: 1e-9, ...limits(1) } },
      { 'openai@a': [silent(), silent()] },
    );
    const first = await ask(one, hedged);
    expect([one.called, first.outcomes]).toEqual([
      ['openai@a', 'openai@b'],
      ['outpaced', 'answered'],
    ]);
    const second = await ask(one, hedged);
    expect([one.called.slice(2), second.outcomes]).toEqual([
      ['openai@a', 'azure'],
      ['outpaced', 'answered'],
    ]);
    expect(one.closed).toEqual(['openai@a', 'openai@a']);
    const uses = [...first.plan.attempts, ...second.plan.attempts].map(({ route }) => route);
    for (const { pooled } of uses) {
      if (pooled) expect(one.pools.loadFor(pooled.member.key)!.open).toBe(0);
    }
  });

  it('keep each account below its limit until the sum is spent, then fail with the time to wait', async () => {
    const one = world({ a: limits(10), b: limits(20), c: limits(70) });
    for (let count = 0; count < 100; count++) {
      const { failure } = await ask(one, { model: 'openai/alone' });
      expect(failure).toBeUndefined();
    }
    expect(countOf(one.called)).toEqual({ 'openai@a': 10, 'openai@b': 20, 'openai@c': 70 });
    const refused = await refusal(one, { model: 'openai/alone' });
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused.message).toContain('openai for openai/alone');
    const { retryAfterSeconds = 0 } = refused;
    expect(retryAfterSeconds).toBeGreaterThan(30);
    expect(retryAfterSeconds).toBeLessThanOrEqual(61);
    expect(one.called).toHaveLength(100);
  });

  it('count at once, however many are in flight', async () => {
    const one = world({ a: limits(3), b: limits(3) });
    const plans = await Promise.all(
      Array.from({ length: 8 }, () => one.plan({ model: 'openai/alone' })),
    );
    const outcomes = await Promise.all(
      plans.map(async (plan) => {
        try {
          const events = one.service.open(plan, { cover: () => Promise.resolve(true) });
          for await (const event of events) void event;
          return 'answered';
        } catch (error) {
          return error instanceof RateLimitError ? 'limited' : 'failed';
        }
      }),
    );
    expect(countOf(outcomes)).toEqual({ answered: 6, limited: 2 });
    expect(countOf(one.called)).toEqual({ 'openai@a': 3, 'openai@b': 3 });
  });

  it('are limited by tokens as well', async () => {
    const one = world({ a: { tokensPerMinute: 1_200 }, b: { tokensPerMinute: 600 } });
    const fields = { model: 'openai/alone', max_tokens: 500 };
    // The first answer is estimated at its limit, later ones by the first.
    expect((await ask(one, fields)).failure).toBeUndefined();
    for (let count = 0; count < 200; count++) {
      const plan = await one.plan(fields).catch(() => undefined);
      if (!plan) break;
      for await (const event of one.service.open(plan, { cover: () => Promise.resolve(true) }))
        void event;
      plan.noteEnd({ ...NO_USAGE, inputTokens: 10, outputTokens: 20 });
    }
    // 30 tokens each, plus the estimate of one that no longer fits.
    const { 'openai@a': a = 0, 'openai@b': b = 0 } = countOf(one.called);
    expect(a).toBeGreaterThan(36);
    expect(a).toBeLessThanOrEqual(40);
    expect(b).toBeGreaterThan(17);
    expect(b).toBeLessThanOrEqual(20);
    expect((await refusal(one, fields)).status).toBe(429);
  });

  it('use another provider of the model when all accounts are at their limits', async () => {
    const one = world({ a: limits(1), b: limits(1) });
    for (let count = 0; count < 4; count++) await ask(one);
    expect(countOf(one.called)).toEqual({ azure: 2, 'openai@a': 1, 'openai@b': 1 });
  });

  it('use the other accounts while one that answered 429 cools down', async () => {
    const one = world(
      { a: { weight: 1_000_000 }, b: {} },
      { 'openai@a': [limited(60_000), limited(60_000)] },
    );
    const { failure, plan } = await ask(one, { model: 'openai/alone' });
    expect(failure).toBeUndefined();
    expect(plan.attempts.map(({ route, outcome }) => [route.account, outcome])).toEqual([
      ['a', 'rate_limited'],
      ['b', 'answered'],
    ]);
    for (let count = 0; count < 5; count++) await ask(one, { model: 'openai/alone' });
    expect(countOf(one.called)).toEqual({ 'openai@a': 1, 'openai@b': 6 });
  });

  it('return the wait when all accounts are rate limited', async () => {
    const one = world(
      { a: {}, b: {} },
      { 'openai@a': [limited(40_000)], 'openai@b': [limited(50_000)] },
    );
    const { failure } = await ask(one, { model: 'openai/alone' });
    expect(failure).toBeInstanceOf(RateLimitError);
    const refused = await refusal(one, { model: 'openai/alone' });
    expect(refused).toMatchObject({ status: 429, retryAfterSeconds: 40 });
    expect(one.called).toHaveLength(2);
  });

  it('use the other accounts when one is rejected, and are tried anyway when all are', async () => {
    const one = world({ a: { weight: 1_000_000 }, b: {} }, { 'openai@a': [bad('operator')] });
    expect((await ask(one, { model: 'openai/alone' })).failure).toBeUndefined();
    await ask(one, { model: 'openai/alone' });
    expect(one.called).toEqual(['openai@a', 'openai@b', 'openai@b']);
    const both = world(
      { a: {}, b: {} },
      { 'openai@a': [bad('operator')], 'openai@b': [bad('operator')] },
    );
    expect((await ask(both, { model: 'openai/alone' })).failure).toMatchObject({ status: 502 });
    // One is tried anyway, as with all failing routes.
    expect((await ask(both, { model: 'openai/alone' })).failure).toBeUndefined();
  });

  it('skip accounts whose vendor reports an empty budget', async () => {
    const spent: Script = {
      ...GOOD,
      headers: { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '45s' },
    };
    const one = world({ a: { weight: 1_000_000 }, b: {} }, { 'openai@a': [spent] });
    for (let count = 0; count < 4; count++) await ask(one, { model: 'openai/alone' });
    expect(one.called).toEqual(['openai@a', 'openai@b', 'openai@b', 'openai@b']);
  });

  it('skip accounts that do not serve the model', async () => {
    const one = world({ a: { models: ['openai/g*'] }, b: { models: ['openai/alone'] } });
    const accountsOf = async (model: string) =>
      (await one.plan({ model })).routes.map(({ account }) => account);
    expect(await accountsOf('openai/alone')).toEqual(['b']);
    expect(await accountsOf('openai/gpt')).toEqual(['a', undefined]);
    const none = world({ a: { models: ['openai/other'] } });
    expect((await refusal(none, { model: 'openai/alone' })).status).toBe(503);
  });

  it('stay within the provider’s accounts when fallbacks are off', async () => {
    const one = world({ a: {}, b: {} });
    const { routes } = await one.plan({ provider: { allow_fallbacks: false } });
    expect(routes.map(({ provider }) => provider)).toEqual(['openai', 'openai']);
  });

  it('appear in the figures of their accounts, without keys', async () => {
    const one = world(
      { full: limits(1), rests: {}, idle: { weight: 2, models: ['openai/other'] } },
      { 'openai@rests': [limited(60_000)] },
    );
    await ask(one, { model: 'openai/alone' });
    // The first account has tried both, so nothing is left to plan with.
    await ask(one, { model: 'openai/alone' }).catch(() => undefined);
    expect(one.service.accountsOf('azure')).toBeUndefined();
    const figures = one.service.accountsOf('openai');
    expect(figures).toMatchObject([
      { id: 'full', state: 'limited', inFlight: 0, requestsLastMinute: 1, requestsPerMinute: 1 },
      { id: 'rests', state: 'cooling', requestsLastMinute: 1, tokensLastMinute: 0 },
      { id: 'idle', weight: 2, state: 'healthy', requestsLastMinute: 0 },
    ]);
    expect(figures?.[0]?.tokensLastMinute).toBe(30);
    expect(JSON.stringify(figures)).not.toContain('apiKey');
  });

  it('count for previously planned work, by the stored route’s account', async () => {
    const one = world({ a: limits(1), b: {} });
    const { routes } = await one.plan({ model: 'openai/alone' });
    const stored = (account: string) => ({ ...routes[0], account, pooled: undefined });
    const submit = (account: string) =>
      one.service.attempt(stored(account), 'id', () => Promise.resolve('taken'));
    expect(await submit('a')).toBe('taken');
    await expect(submit('a')).rejects.toMatchObject({ failure: 'rate_limited' });
    expect(await submit('b')).toBe('taken');
    // An account that is gone since is not counted.
    expect(await submit('gone')).toBe('taken');
    expect(one.pools.loadFor('openai@a')).toMatchObject({ open: 0 });
  });

  it('are no longer in flight after any outcome', async () => {
    const one = world(
      { a: {}, b: {} },
      { 'openai@a': [bad('server', { status: 400 }), GOOD, bad('cut')] },
    );
    for (let count = 0; count < 8; count++) await ask(one, { model: 'openai/alone' });
    expect(one.pools.loadFor('openai@a')?.open ?? 0).toBe(0);
    expect(one.pools.loadFor('openai@b')?.open ?? 0).toBe(0);
  });
});
