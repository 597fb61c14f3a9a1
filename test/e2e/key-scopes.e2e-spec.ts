import { describe, expect, it } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import { as, setUpOwnAccounts, vendorKey, type Credential } from '../support/own-accounts.js';
import { CREDENTIALS } from '../support/paths.js';
import { startTraceReceiver } from '../support/trace-receiver.js';
import { until } from '../support/until.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';

const KEYS = '/v1/customer/api-keys';
const DESTINATIONS = '/v1/customer/broadcast/destinations';
const ALERTS = '/v1/customer/alerts';
const OPT_IN = { 'x-gateway-broadcast': 'true' };
const TENANT = { type: 'tenant', api_key_id: null };

interface Made {
  id: string;
  key: string;
}

describe('resources stored by a routing key', () => {
  const accounts = setUpOwnAccounts();
  const { ask, keysSeen, store, newTenant, rowOf } = accounts;

  const send = async (method: string, path: string, key: string, body?: object) => {
    const response = await accounts.gateway.fetch(path, {
      method,
      headers: { ...as(key), ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const makeKey = async (key: string, body: object = {}): Promise<Made> =>
    (await send('POST', KEYS, key, { name: 'made', ...body })).body as unknown as Made;

  /** A tenant with two routing keys and a child of the first. */
  async function family() {
    const tenant = await newTenant();
    const own = await makeKey(tenant.managementKey);
    const child = await makeKey(own.key);
    const other = await makeKey(tenant.managementKey);
    return { ...tenant, own, child, other };
  }
  const vendorKeyOf = async (key: string, fields = {}): Promise<string | undefined> => {
    const seen = keysSeen().length;
    const response = await ask(key, fields);
    await response.text();
    return response.status === 200 ? keysSeen()[seen] : undefined;
  };

  it('send prompts only of the key and its descendants to its account', async () => {
    const { own, child, other, managementKey } = await family();
    const key = vendorKey();
    const account = await store(own.key, { provider: 'one', key });
    expect(account).toMatchObject({ scope: { type: 'key', api_key_id: own.id } });
    const [mine, childs, others] = [
      await vendorKeyOf(own.key),
      await vendorKeyOf(child.key),
      await vendorKeyOf(other.key),
    ];
    expect([mine, childs]).toEqual([`Bearer ${key}`, `Bearer ${key}`]);
    expect(others).not.toBe(`Bearer ${key}`);
    const listed = await send('GET', CREDENTIALS, managementKey);
    expect(listed.body.data).toMatchObject([{ scope: { type: 'key', api_key_id: own.id } }]);
    const ofTenant = await store(managementKey, { provider: 'one', key: vendorKey() });
    expect(ofTenant).toMatchObject({ scope: TENANT });
  });

  it('hide a child’s account from its parent key', async () => {
    const { own, child } = await family();
    const key = vendorKey();
    await store(child.key, { provider: 'one', key });
    expect(await vendorKeyOf(child.key)).toBe(`Bearer ${key}`);
    expect(await vendorKeyOf(own.key)).not.toBe(`Bearer ${key}`);
  });

  it('list and serve the models of such an account to its key only, also on another instance', async () => {
    const second = await accounts.boot();
    try {
      const { own, other } = await family();
      const key = vendorKey();
      await store(own.key, { provider: 'openai', key });
      const models = async (caller: string): Promise<string> => {
        const response = await second.fetch('/v1/models', { headers: as(caller) });
        return response.text();
      };
      await until(async () => (await models(own.key)).includes('openai/own-only'));
      expect(await models(other.key)).not.toContain('openai/own-only');
      const refused = await ask(other.key, { model: 'openai/own-only' });
      expect(refused.status).toBe(503);
      expect((await ask(own.key, { model: 'openai/own-only' })).status).toBe(200);
    } finally {
      await second.close();
    }
  });

  it('mark the attempts of a request over such an account', async () => {
    const { own, managementKey } = await family();
    await store(own.key, { provider: 'one', key: vendorKey() });
    const row = await rowOf(await ask(own.key), managementKey);
    expect(row).toMatchObject({
      traffic_mode: 'byok',
      attempts: [{ scope: { type: 'key', api_key_id: own.id } }],
    });
  });

  it('keep answers from such an account out of the tenant’s cache', async () => {
    const { own, other } = await family();
    await store(own.key, { provider: 'one', key: vendorKey() });
    const cached = { headers: { 'x-gateway-cache': 'true' } };
    const askCached = async (key: string): Promise<string | null> => {
      const body = { model: 'one/a', messages: [{ role: 'user', content: 'Cached?' }] };
      const response = await accounts.gateway.post('/v1/chat/completions', body, {
        ...as(key),
        ...cached.headers,
      });
      await response.text();
      return response.headers.get('x-cache');
    };
    await askCached(own.key);
    expect(await askCached(other.key)).toBe('MISS');
  });

  it('stop using an account once its key is revoked or expires', async () => {
    const { own, managementKey } = await family();
    const { database } = accounts.access;
    const { id } = await store(own.key, { provider: 'one', key: vendorKey() });
    const child = await makeKey(own.key);
    const tried = `${CREDENTIALS}/${id}/test`;
    expect((await send('POST', tried, managementKey)).status).toBe(200);
    await send('DELETE', `${KEYS}/${own.id}`, managementKey);
    expect((await ask(child.key)).status).toBe(401);
    await until(async () => (await send('POST', tried, managementKey)).status === 404);
    const expiring = await makeKey(managementKey);
    const second = await store(expiring.key, { provider: 'one', key: vendorKey() });
    await database.query(`UPDATE api_keys SET expires_at = now() WHERE id = $1`, [expiring.id]);
    const later = `${CREDENTIALS}/${second.id}/test`;
    await until(async () => (await send('POST', later, managementKey)).status === 404);
  });

  const URL = 'http://127.0.0.1:9/x';
  it.each([
    [
      'provider-credentials',
      CREDENTIALS,
      { provider: 'one', key: 'sk-of-vendor-1', check: false },
      'PATCH',
      { weight: 2 },
    ],
    ['destinations', DESTINATIONS, { url: URL }, 'PUT', { url: `${URL}2` }],
    [
      'alerts',
      ALERTS,
      { name: 'a', kind: 'balance_below', condition: { credits: 1 }, url: URL },
      'PATCH',
      { url: `${URL}2` },
    ],
  ])(
    'let only the key, its ancestors and management keys change %s',
    async (_, path, body, verb, change) => {
      const { own, child, other, managementKey } = await family();
      const made = await send('POST', path, own.key, body);
      expect(made).toMatchObject({
        status: 201,
        body: { scope: { type: 'key', api_key_id: own.id } },
      });
      const at = `${path}/${String(made.body.id)}`;
      expect((await send(verb, at, other.key, change)).status).toBe(403);
      expect((await send('DELETE', at, other.key)).status).toBe(403);
      expect((await send(verb, at, child.key, change)).status).toBe(403);
      expect((await send(verb, at, own.key, change)).status).toBe(200);
      expect((await send(verb, at, managementKey, change)).status).toBe(200);
      const below = await send('POST', path, child.key, body);
      expect((await send('DELETE', `${path}/${String(below.body.id)}`, own.key)).status).toBe(200);
      const ofTenant = await send('POST', path, managementKey, body);
      expect(ofTenant).toMatchObject({ status: 201, body: { scope: TENANT } });
      expect(
        (await send(verb, `${path}/${String(ofTenant.body.id)}`, own.key, change)).status,
      ).toBe(403);
    },
  );

  it('send no traces of other keys to the key’s destination', async () => {
    const receiver = await startTraceReceiver();
    const { own, child, other, managementKey } = await family();
    try {
      const made = await send('POST', DESTINATIONS, own.key, {
        url: receiver.url,
        include_content: true,
      });
      expect(made.status).toBe(201);
      const traced = async (key: string): Promise<string> => {
        const messages = [{ role: 'user', content: 'Hello' }];
        const response = await accounts.gateway.post(
          '/v1/chat/completions',
          { model: 'one/a', messages },
          { ...as(key), ...OPT_IN },
        );
        await response.text();
        return response.headers.get('x-request-id')!;
      };
      const foreign = await traced(other.key);
      const wanted = [await traced(own.key), await traced(child.key)];
      await until(() => wanted.every((id) => receiver.requestIds().includes(id)));
      expect(receiver.requestIds()).not.toContain(foreign);
      const sent = () =>
        receiver.deliveries
          .splice(0)
          .map(({ text }) => text)
          .join();
      expect(sent()).toContain('gen_ai.input.messages');
      await accounts.access.database.query(
        `UPDATE api_keys SET withheld_rights = '{content}' WHERE id = $1`,
        [own.id],
      );
      await setTimeout(1_500);
      await receiver.traceOf(await traced(own.key));
      expect(sent()).not.toContain('gen_ai.input.messages');
      await send('DELETE', `${KEYS}/${own.id}`, managementKey);
      const listed = await send('GET', DESTINATIONS, managementKey);
      expect(listed.body.data).toMatchObject([{ scope: { type: 'key', api_key_id: own.id } }]);
    } finally {
      await receiver.close();
    }
  });

  it('list the webhook of a job under its key, and send none once the key has ended', async () => {
    const receiver = await startWebhookReceiver(Infinity);
    const { own, managementKey } = await family();
    try {
      const submit = () =>
        send('POST', '/v1/jobs', own.key, {
          model: 'sandbox/image',
          prompt: 'a barn',
          webhook_url: receiver.url,
        });
      expect((await submit()).status).toBe(202);
      let listed: Credential[] = [];
      await until(async () => {
        const { body } = await send('GET', '/v1/customer/webhook-deliveries', managementKey);
        listed = body.data as Credential[];
        return listed.length > 0;
      });
      expect(listed).toMatchObject([{ scope: { type: 'key', api_key_id: own.id } }]);
      const { database } = accounts.access;
      const late = await send('POST', '/v1/jobs', own.key, {
        ...{ model: 'sandbox/video', prompt: 'a barn', webhook_url: receiver.url },
      });
      await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [own.id]);
      await until(async () => {
        const { rows } = await database.query(
          `SELECT FROM jobs WHERE id = $1 AND completed_at IS NOT NULL AND NOT webhook_due`,
          [late.body.id],
        );
        return rows.length === 1;
      });
      const { body } = await send('GET', '/v1/customer/webhook-deliveries', managementKey);
      expect(body.data).toHaveLength(1);
    } finally {
      await receiver.close();
    }
  });
});
