import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { awaitRoomInThisMinute, keyWithLimit } from '../support/room-in-minute.js';

describe('the rate limit per minute', () => {
  let gateway: BootedGateway;

  beforeAll(async () => {
    gateway = await bootGateway();
  });

  afterAll(async () => {
    await gateway.close();
  });

  it('is in every answer after the key check, and refuses requests above it', async () => {
    const headers = await keyWithLimit(gateway, 2);
    await awaitRoomInThisMinute();
    const resetAt = String((Math.floor(Date.now() / 60_000) + 1) * 60);

    const good = await ask(headers, 'sandbox/echo');
    expect([good.status, limitsOf(good)]).toEqual([200, ['2', '1', resetAt]]);
    const bad = await ask(headers, 'no-slash');
    expect([bad.status, limitsOf(bad)]).toEqual([400, ['2', '0', resetAt]]);

    const refused = await ask(headers, 'sandbox/echo');
    expect([refused.status, limitsOf(refused)]).toEqual([429, ['2', '0', resetAt]]);
    const wait = refused.headers.get('retry-after') ?? '';
    expect(wait).toMatch(/^[1-9]\d?$/);
    expect(Math.abs(Date.now() / 1000 + Number(wait) - Number(resetAt))).toBeLessThan(8);
    expect(await refused.json()).toEqual({
      error: {
        message: expect.any(String),
        type: 'rate_limit_error',
        code: 429,
        param: 'rate_limit_per_minute',
      },
    });
  });

  it('does not apply to catalogue and customer calls, which do not show it', async () => {
    const headers = await keyWithLimit(gateway, 1);
    for (const path of ['/v1/models', '/v1/customer/api-keys']) {
      const answer = await gateway.fetch(path, { headers });
      expect([answer.status, limitsOf(answer)]).toEqual([200, [null, null, null]]);
    }
    expect((await ask(headers, 'sandbox/echo')).status).toBe(200);
  });

  it('is not shown to callers without a key', async () => {
    const answer = await ask({ authorization: 'Bearer sk-unknown' }, 'sandbox/echo');
    expect([answer.status, limitsOf(answer)]).toEqual([401, [null, null, null]]);
  });

  it('answers 403 to a management key that calls a model', async () => {
    const answer = await ask({ authorization: `Bearer ${gateway.managementKey}` }, 'sandbox/echo');
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      error: { type: 'permission_error', param: 'authorization' },
    });
  });

  function ask(headers: Record<string, string>, model: string): Promise<Response> {
    const messages = [{ role: 'user', content: 'Hello' }];
    return gateway.post('/v1/chat/completions', { model, messages }, headers);
  }
});

function limitsOf(answer: Response): (string | null)[] {
  return ['limit', 'remaining', 'reset'].map((name) => answer.headers.get(`x-ratelimit-${name}`));
}
