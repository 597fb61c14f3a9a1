import { describe, expect, it } from '@jest/globals';
import { bad, limited, type Script } from '../../../../test/support/routing-environment.js';
import { RateLimitError } from '../../../platform/errors/gateway-errors.js';
import { readAllowance } from '../../../vendors/account-allowance.js';
import type { ByokAccess } from '../../credentials/byok-upstreams.service.js';
import { ByokCredential } from '../../credentials/credential.repository.js';
import type { PoolMember } from './pool-member.js';
import {
  world,
  ask,
  refusal,
  limits,
  countOf,
} from '../../../../test/support/pooled-environment.js';

describe('requests over several BYOK accounts with one provider', () => {
  const KEY = 'sk-secret-of-the-tenant';
  const own = (
    id: string,
    fields: Partial<PoolMember> = {},
    { allowSharedFallback = false, scopeKeyId = null as string | null } = {},
  ): ByokAccess => ({
    credential: new ByokCredential({
      id,
      provider: 'openai',
      allowSharedFallback,
      scopeKeyId,
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

  it('keep each account below its limit until the sum is spent, then fail with the time to wait', async () => {
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

  it('fall back to shared capacity only if all accounts allow it', async () => {
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

  it('use the other accounts when one is rate limited or rejected', async () => {
    for (const script of [limited(60_000), bad('operator', { status: 401 })]) {
      const one = owning([own('a', { weight: 1_000 }), own('b', { weight: 1e-9 })], {
        a: [script],
      });
      for (let count = 0; count < 3; count++) expect((await ask(one)).failure).toBeUndefined();
      expect(one.called).toEqual(['a', 'b', 'b', 'b']);
    }
  });

  it('return the vendor’s wait when all accounts cool down', async () => {
    const one = owning([own('a'), own('b')], { a: [limited(40_000)], b: [limited(50_000)] });
    expect((await ask(one)).failure).toBeInstanceOf(RateLimitError);
    expect(await refusal(one)).toMatchObject({ status: 429, retryAfterSeconds: 40 });
    expect(one.called).toHaveLength(2);
  });

  it('use a credential stored by a routing key last, whatever its weight', async () => {
    const one = owning([
      own('main', limits(2)),
      own('late', { weight: 1_000 }, { scopeKeyId: 'key' }),
    ]);
    for (let count = 0; count < 4; count++) await ask(one);
    expect(one.called).toEqual(['main', 'main', 'late', 'late']);
  });

  it('stay with the conversation’s account', async () => {
    const one = owning([own('a'), own('b'), own('c')]);
    const messages = [{ role: 'user', content: 'word '.repeat(2_000) }];
    for (let count = 0; count < 8; count++) await ask(one, { messages });
    expect(new Set(one.called).size).toBe(1);
  });

  it('do not influence length estimates of other accounts', async () => {
    const one = owning([own('a')]);
    await ask(one);
    const route = { provider: 'openai', upstreamModel: 'openai-model' };
    const { upstreamModel } = (await one.plan()).routes[0];
    const { pools } = one;
    expect(pools.expectedTokens({ ...route, upstreamModel }, 10_000)).toBe(500);
    const [byok] = one.byok;
    expect(pools.expectedTokens({ ...route, upstreamModel, ...(byok && { byok }) }, 10_000)).toBe(
      20,
    );
  });

  it('count for previously planned work', async () => {
    const one = owning([own('a', limits(1))]);
    const { routes } = await one.plan();
    const stored = { ...routes[0], pooled: undefined };
    const submit = () => one.service.attempt(stored, 'id', () => Promise.resolve('taken'));
    expect(await submit()).toBe('taken');
    await expect(submit()).rejects.toMatchObject({ failure: 'rate_limited' });
    expect(one.pools.loadFor('a')).toMatchObject({ open: 0 });
  });
});
