import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../../../test/support/catalogue-models.js';
import { bad, GOOD, limited, World, type Script } from '../../../../test/support/routing-world.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import type { PoolAccount, ProviderConfig } from '../../../platform/config/app-config.js';
import { GatewayError, RateLimitError } from '../../../platform/errors/gateway-errors.js';
import { readAllowance } from '../../../vendors/account-allowance.js';
import type { ByokAccess } from '../../credentials/byok-upstreams.service.js';
import { ByokCredential } from '../../credentials/credential.repository.js';
import type { PoolMember } from './pool-member.js';

const pool = (id: string, accounts: Record<string, Partial<PoolAccount>>): ProviderConfig => ({
  id,
  name: id,
  adapter: 'openai',
  type: 'openai',
  baseUrl: 'https://example.com/v1',
  apiKey: undefined,
  settings: {},
  accounts: Object.entries(accounts).map(([name, fields]) => ({
    id: name,
    apiKey: name,
    weight: 1,
    ...fields,
  })),
});

const gpt = chatModel('openai/gpt', [modelRoute('openai'), modelRoute('azure')]);
const alone = chatModel('openai/alone', [modelRoute('openai')]);
const gone = chatModel('openai/gone', [modelRoute('openai')]);

function world(
  accounts: Record<string, Partial<PoolAccount>>,
  scripts: Record<string, Script[]> = {},
  others: ProviderConfig[] = [],
) {
  return new World(scripts, [gpt, alone, gone], undefined, [pool('openai', accounts), ...others]);
}

/** As the ledger does at the end of each answer. */
async function ask(one: World, fields: Record<string, unknown> = {}) {
  const opened = await one.open(fields);
  opened.plan.noteEnd({ ...NO_USAGE, inputTokens: 10, outputTokens: 20 });
  return opened;
}

async function refusal(one: World, fields: Record<string, unknown> = {}): Promise<GatewayError> {
  const thrown: unknown = await one.plan(fields).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof GatewayError) return thrown;
  throw new Error('it was not refused');
}

const limits = (requestsPerMinute: number) => ({ requestsPerMinute });
const countOf = (called: readonly string[]) =>
  Object.fromEntries(
    [...new Set(called)].sort().map((name) => [name, called.filter((one) => one === name).length]),
  );

describe('requests of a provider with several accounts', () => {
  it('have a route for each account before those of the next provider', async () => {
    const { routes } = await world({ a: {}, b: {} }).plan();
    expect(routes.map(({ provider, account }) => [provider, account]).sort()).toEqual([
      ['azure', undefined],
      ['openai', 'a'],
      ['openai', 'b'],
    ]);
    expect(routes[2]?.provider).toBe('azure');
  });

  it('have another account asked when the first is silent, unless that is at its limit', async () => {
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
      if (pooled) expect(one.service.pools.loadFor(pooled.member.key)!.open).toBe(0);
    }
  });

  it('keep each account below its limit until the sum is spent, then are refused with the time to wait', async () => {
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

  it('count at once, however many there are under way', async () => {
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
    // Of the first it is expected to be as long as it may; of the next what the first has shown.
    expect((await ask(one, fields)).failure).toBeUndefined();
    for (let count = 0; count < 200; count++) {
      const plan = await one.plan(fields).catch(() => undefined);
      if (!plan) break;
      for await (const event of one.service.open(plan, { cover: () => Promise.resolve(true) }))
        void event;
      plan.noteEnd({ ...NO_USAGE, inputTokens: 10, outputTokens: 20 });
    }
    // 30 tokens each, and the estimate of one that no longer fits.
    const { 'openai@a': a = 0, 'openai@b': b = 0 } = countOf(one.called);
    expect(a).toBeGreaterThan(36);
    expect(a).toBeLessThanOrEqual(40);
    expect(b).toBeGreaterThan(17);
    expect(b).toBeLessThanOrEqual(20);
    expect((await refusal(one, fields)).status).toBe(429);
  });

  it('go to another provider of the model when all accounts are at their limit', async () => {
    const one = world({ a: limits(1), b: limits(1) });
    for (let count = 0; count < 4; count++) await ask(one);
    expect(countOf(one.called)).toEqual({ azure: 2, 'openai@a': 1, 'openai@b': 1 });
  });

  it('go over the others when one answers 429, which rests for as long as it says', async () => {
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

  it('are told to wait when all accounts are told so', async () => {
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

  it('go over the others when one is refused, and are not told to wait when all are', async () => {
    const one = world({ a: { weight: 1_000_000 }, b: {} }, { 'openai@a': [bad('operator')] });
    expect((await ask(one, { model: 'openai/alone' })).failure).toBeUndefined();
    await ask(one, { model: 'openai/alone' });
    expect(one.called).toEqual(['openai@a', 'openai@b', 'openai@b']);
    const both = world(
      { a: {}, b: {} },
      { 'openai@a': [bad('operator')], 'openai@b': [bad('operator')] },
    );
    expect((await ask(both, { model: 'openai/alone' })).failure).toMatchObject({ status: 502 });
    // One is tried all the same, as of all routes that fail.
    expect((await ask(both, { model: 'openai/alone' })).failure).toBeUndefined();
  });

  it('leave out accounts whose vendor says that nothing is left', async () => {
    const spent: Script = {
      ...GOOD,
      headers: { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '45s' },
    };
    const one = world({ a: { weight: 1_000_000 }, b: {} }, { 'openai@a': [spent] });
    for (let count = 0; count < 4; count++) await ask(one, { model: 'openai/alone' });
    expect(one.called).toEqual(['openai@a', 'openai@b', 'openai@b', 'openai@b']);
  });

  it('leave out accounts that are not for the model', async () => {
    const one = world({ a: { models: ['openai/g*'] }, b: { models: ['openai/alone'] } });
    const accountsOf = async (model: string) =>
      (await one.plan({ model })).routes.map(({ account }) => account);
    expect(await accountsOf('openai/alone')).toEqual(['b']);
    expect(await accountsOf('openai/gpt')).toEqual(['a', undefined]);
    const none = world({ a: { models: ['openai/other'] } });
    expect((await refusal(none, { model: 'openai/alone' })).status).toBe(503);
  });

  it('stay with the accounts of the one provider where no fallbacks are wanted', async () => {
    const one = world({ a: {}, b: {} });
    const { routes } = await one.plan({ provider: { allow_fallbacks: false } });
    expect(routes.map(({ provider }) => provider)).toEqual(['openai', 'openai']);
  });

  it('show in the figures of their accounts, which have no key', async () => {
    const one = world(
      { full: limits(1), rests: {}, idle: { weight: 2, models: ['openai/other'] } },
      { 'openai@rests': [limited(60_000)] },
    );
    await ask(one, { model: 'openai/alone' });
    // Where the first one tried both, there is none left to plan with.
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

  it('count for work that was planned earlier, by the account that its stored route names', async () => {
    const one = world({ a: limits(1), b: {} });
    const { routes } = await one.plan({ model: 'openai/alone' });
    const stored = (account: string) => ({ ...routes[0], account, pooled: undefined });
    const submit = (account: string) =>
      one.service.attempt(stored(account), 'id', () => Promise.resolve('taken'));
    expect(await submit('a')).toBe('taken');
    await expect(submit('a')).rejects.toMatchObject({ failure: 'rate_limited' });
    expect(await submit('b')).toBe('taken');
    // One that is gone since is not counted.
    expect(await submit('gone')).toBe('taken');
    expect(one.service.pools.loadFor('openai@a')).toMatchObject({ open: 0 });
  });

  it('do not leak what is under way, whatever becomes of it', async () => {
    const one = world(
      { a: {}, b: {} },
      { 'openai@a': [bad('server', { status: 400 }), GOOD, bad('cut')] },
    );
    for (let count = 0; count < 8; count++) await ask(one, { model: 'openai/alone' });
    expect(one.service.pools.loadFor('openai@a')?.open ?? 0).toBe(0);
    expect(one.service.pools.loadFor('openai@b')?.open ?? 0).toBe(0);
  });
});

describe('requests over several accounts of a tenant with one provider', () => {
  const KEY = 'sk-secret-of-the-tenant';
  const own = (
    id: string,
    fields: Partial<PoolMember> = {},
    { allowSharedFallback = false, isOfRoutingKey = false } = {},
  ): ByokAccess => ({
    credential: new ByokCredential({
      id,
      provider: 'openai',
      allowSharedFallback,
      isOfRoutingKey,
      settings: {},
      encryptedKey: Buffer.from(KEY),
    }),
    hasTenantAddress: false,
    member: {
      key: id,
      weight: 1,
      requestsPerMinute: undefined,
      tokensPerMinute: undefined,
      readAllowance,
      ...fields,
    },
  });

  function owning(byok: readonly ByokAccess[], scripts: Record<string, Script[]> = {}) {
    const one = world({}, scripts);
    one.providers = [];
    one.byok = byok;
    return one;
  }

  it('keep each below its limit until the sum is spent, then are refused with the time to wait', async () => {
    const one = owning([own('a', limits(1)), own('b', limits(2)), own('c', limits(7))]);
    for (let count = 0; count < 10; count++) expect((await ask(one)).failure).toBeUndefined();
    expect(countOf(one.called)).toEqual({ a: 1, b: 2, c: 7 });
    const refused = await refusal(one);
    expect(refused).toBeInstanceOf(RateLimitError);
    const { retryAfterSeconds = 0 } = refused;
    expect(retryAfterSeconds).toBeGreaterThan(30);
    expect(retryAfterSeconds).toBeLessThanOrEqual(61);
    expect(JSON.stringify([refused, refused.message])).not.toContain(KEY);
    expect(one.called).toHaveLength(10);
  });

  it('go on over shared capacity only where all of them allow it', async () => {
    const sharing = { allowSharedFallback: true };
    const open = owning([own('a', limits(1), sharing), own('b', limits(1), sharing)]);
    for (let count = 0; count < 3; count++) await ask(open);
    expect(countOf(open.called)).toEqual({ a: 1, b: 1, openai: 1 });
    const closed = owning([own('a', limits(1), sharing), own('b', limits(1))]);
    for (let count = 0; count < 2; count++) await ask(closed);
    expect((await refusal(closed)).status).toBe(429);
    expect(countOf(closed.called)).toEqual({ a: 1, b: 1 });
  });

  it('are limited over a single account as well, and by tokens', async () => {
    const one = owning([own('a', { tokensPerMinute: 40 })]);
    const fields = { max_tokens: 20 };
    expect((await ask(one, fields)).failure).toBeUndefined();
    expect(await refusal(one, fields)).toMatchObject({ status: 429 });
  });

  it('go over the others when one is told to wait, or is refused', async () => {
    for (const script of [limited(60_000), bad('operator', { status: 401 })]) {
      const one = owning([own('a', { weight: 1_000 }), own('b', { weight: 1e-9 })], {
        a: [script],
      });
      for (let count = 0; count < 3; count++) expect((await ask(one)).failure).toBeUndefined();
      expect(one.called).toEqual(['a', 'b', 'b', 'b']);
    }
  });

  it('are told to wait as long as the vendor says when all rest', async () => {
    const one = owning([own('a'), own('b')], { a: [limited(40_000)], b: [limited(50_000)] });
    expect((await ask(one)).failure).toBeInstanceOf(RateLimitError);
    expect(await refusal(one)).toMatchObject({ status: 429, retryAfterSeconds: 40 });
    expect(one.called).toHaveLength(2);
  });

  it('take what a routing key stored only where nothing else is left, whatever its weight', async () => {
    const one = owning([
      own('main', limits(2)),
      own('late', { weight: 1_000 }, { isOfRoutingKey: true }),
    ]);
    for (let count = 0; count < 4; count++) await ask(one);
    expect(one.called).toEqual(['main', 'main', 'late', 'late']);
  });

  it('stay with the account where their conversation is', async () => {
    const one = owning([own('a'), own('b'), own('c')]);
    const messages = [{ role: 'user', content: 'word '.repeat(2_000) }];
    for (let count = 0; count < 8; count++) await ask(one, { messages });
    expect(new Set(one.called).size).toBe(1);
  });

  it('say nothing of the length of answers over other accounts', async () => {
    const one = owning([own('a')]);
    await ask(one);
    const route = { provider: 'openai', upstreamModel: 'openai-model' };
    const { upstreamModel } = (await one.plan()).routes[0];
    const { pools } = one.service;
    expect(pools.expectedTokens({ ...route, upstreamModel }, 10_000)).toBe(500);
    const [byok] = one.byok;
    expect(pools.expectedTokens({ ...route, upstreamModel, ...(byok && { byok }) }, 10_000)).toBe(
      20,
    );
  });

  it('count for work that was planned earlier', async () => {
    const one = owning([own('a', limits(1))]);
    const { routes } = await one.plan();
    const stored = { ...routes[0], pooled: undefined };
    const submit = () => one.service.attempt(stored, 'id', () => Promise.resolve('taken'));
    expect(await submit()).toBe('taken');
    await expect(submit()).rejects.toMatchObject({ failure: 'rate_limited' });
    expect(one.service.pools.loadFor('a')).toMatchObject({ open: 0 });
  });
});
