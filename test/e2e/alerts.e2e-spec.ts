import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { InstanceService } from '../../src/core/ledger/instance.service.js';
import { AlertEvaluator } from '../../src/core/alerts/alert-evaluator.service.js';
import type { BootedGateway } from '../support/boot-gateway.js';
import { bootWithVendor, type VendorSetUp } from '../support/boot-with-vendor.js';
import { until } from '../support/until.js';
import { startReceiver } from '../support/webhook-receiver.js';

const CUSTOMER = '/v1/customer/alerts';
const ADMIN = '/v1/admin/alerts';
const PATH_OF_SECRET = '/services/T0000/B0000/secret-of-the-channel-9876';

type Json = Record<string, unknown>;

describe('alerts over HTTP', () => {
  let setUp: VendorSetUp;
  let gateway: BootedGateway;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let rule: Json;

  beforeAll(async () => {
    setUp = await bootWithVendor({}, { GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true' });
    ({ gateway } = setUp);
    receiver = await startReceiver();
    rule = {
      name: 'low',
      kind: 'balance_below',
      condition: { credits: 1_000_000_001 },
      url: `${receiver.url}${PATH_OF_SECRET}`,
    };
  });
  afterEach(async () => {
    receiver.answers.status = 200;
    receiver.posts.length = 0;
    await gateway.database.query('DELETE FROM alert_rules');
    await gateway.database.query('DELETE FROM alert_events');
  });
  afterAll(async () => {
    await setUp.close();
    await receiver.close();
  });

  /** Calls with the tenant's routing key, or with the operator's key below /v1/admin. */
  const call = async (method: string, path: string, body?: object, status = 200): Promise<Json> => {
    const response = path.startsWith('/v1/admin')
      ? await gateway.admin(method, path, body)
      : await gateway.fetch(path, {
          method,
          headers: { 'content-type': 'application/json' },
          body: body && JSON.stringify(body),
        });
    const answer = (await response.json()) as Json;
    expect([response.status, answer]).toEqual([status, answer]);
    return answer;
  };
  let evaluations = 0;
  const evaluate = () => {
    const at = new Date(Date.now() + ++evaluations * 11_000);
    return gateway.gateway.application.get(AlertEvaluator, { strict: false }).look(at);
  };

  describe.each([CUSTOMER, ADMIN])('%s', (path) => {
    it('creates, lists, reads, changes and deletes them, and never shows the whole URL', async () => {
      const made = await call('POST', path, rule, 201);
      const { id } = made;
      expect(made).toMatchObject({
        name: 'low',
        enabled: true,
        kind: 'balance_below',
        condition: { credits: 1_000_000_001 },
        format: 'webhook',
        url_preview: `${receiver.url}/…9876`,
        firing: false,
      });
      expect((await call('GET', path)).data).toEqual([made]);
      expect(await call('GET', `${path}/${String(id)}`)).toEqual(made);
      const changed = await call('PATCH', `${path}/${String(id)}`, {
        name: 'lower',
        enabled: false,
        format: 'slack',
        condition: { credits: 5 },
        url: `${receiver.url}/short`,
      });
      expect(changed).toMatchObject({
        name: 'lower',
        enabled: false,
        format: 'slack',
        condition: { credits: 5 },
        url_preview: `${receiver.url}/…`,
      });
      expect(await call('DELETE', `${path}/${String(id)}`)).toEqual({ id, deleted: true });
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        await call(method, `${path}/${String(id)}`, method === 'PATCH' ? {} : undefined, 404);
        await call(method, `${path}/nonsense`, method === 'PATCH' ? {} : undefined, 404);
      }
      const { rows } = await gateway.database.query<{ text: string }>(
        `SELECT audit_log::text AS text FROM audit_log WHERE target_id = $1 ORDER BY id`,
        [id],
      );
      expect(rows.map(({ text }) => /alert\.\w+/.exec(text)?.[0])).toEqual([
        'alert.create',
        'alert.update',
        'alert.delete',
      ]);
      expect(JSON.stringify(rows)).not.toContain('secret-of-the-channel');
    });

    it.each<[string, Json, string]>([
      ['no name', { name: '' }, 'name'],
      ['an unknown kind', { kind: 'weather' }, 'kind'],
      ['a condition that is not an object', { condition: [] }, 'condition'],
      ['a missing figure', { condition: {} }, 'condition.credits'],
      ['a figure of another type', { condition: { credits: '5' } }, 'condition.credits'],
      ['a figure out of bounds', { condition: { credits: 0 } }, 'condition.credits'],
      ['an unknown figure', { condition: { credits: 1, debit: 1 } }, 'condition.debit'],
      [
        'thresholds above 100',
        { kind: 'budget', condition: { thresholds: [50, 101] } },
        'condition.thresholds',
      ],
      [
        'the same threshold twice',
        { kind: 'budget', condition: { thresholds: [50, 50] } },
        'condition.thresholds',
      ],
      [
        'a window of a day',
        { kind: 'error_rate', condition: { percent: 5, window_minutes: 1_440 } },
        'condition.window_minutes',
      ],
      [
        'a malformed provider',
        { kind: 'vendor_unhealthy', condition: { provider: 'a b' } },
        'condition.provider',
      ],
      ['a URL of another kind', { url: 'ftp://example.com/' }, 'url'],
      ['a URL with credentials', { url: 'https://me:secret@example.com/' }, 'url'],
      ['an unknown format', { format: 'pager' }, 'format'],
      ['an unknown field', { headers: {} }, 'headers'],
      ['null for enabled', { enabled: null }, 'enabled'],
    ])('rejects %s', async (_, change, param) => {
      const { error } = await call('POST', path, { ...rule, ...change }, 400);
      expect(error).toMatchObject({ type: 'invalid_request_error', param });
    });

    it('sends a test at once, and returns the receiver’s response', async () => {
      const { id } = await call('POST', path, { ...rule, enabled: false }, 201);
      const test = () => call('POST', `${path}/${String(id)}/test`);
      expect(await test()).toMatchObject({ delivered: true, status: 200, error: null });
      const [{ headers, body, path: hook }] = receiver.posts as [(typeof receiver.posts)[number]];
      expect(hook).toBe(PATH_OF_SECRET);
      expect(headers['x-gateway-signature']).toMatch(/^t=\d+,v1=/);
      expect(JSON.parse(body)).toMatchObject({
        type: 'alert.test',
        data: { alert_id: id, kind: 'balance_below', message: 'This is a test. Nothing happened.' },
      });
      receiver.answers.status = 404;
      expect(await test()).toMatchObject({
        delivered: false,
        status: 404,
        error: 'answered with status 404',
      });
      expect((await call('GET', `${path.replace('alerts', 'alert-events')}`)).data).toEqual([]);
    });

    it('offers presets that can be created unchanged', async () => {
      const { presets } = (await call('GET', path)) as { presets: Json[] };
      expect(presets.length).toBeGreaterThan(2);
      for (const preset of presets) await call('POST', path, { ...rule, ...preset }, 201);
    });

    it('lists events by cursor, newest first, optionally of one alert', async () => {
      const ids: unknown[] = [];
      for (let count = 0; count < 3; count++) {
        ids.push((await call('POST', path, rule, 201)).id);
        await evaluate();
      }
      await until(() => receiver.posts.length === 3);
      const events = path.replace('alerts', 'alert-events');
      await until(async () => {
        const { data } = (await call('GET', events)) as { data: { delivery: Json }[] };
        return data.every(({ delivery }) => delivery.state === 'delivered');
      });
      const listed: unknown[] = [];
      let cursor = '';
      do {
        const page = await call('GET', `${events}?limit=2${cursor}`);
        listed.push(...(page.data as Json[]).map(({ alert_id }) => alert_id));
        cursor = page.has_more ? `&cursor=${String(page.next_cursor)}` : '';
      } while (cursor !== '');
      expect(listed).toEqual(ids.toReversed());
      const one = await call('GET', `${events}?alert_id=${String(ids[1])}`);
      expect(one.data).toMatchObject([
        {
          alert_id: ids[1],
          name: 'low',
          kind: 'balance_below',
          status: 'firing',
          subject: gateway.tenantId,
          message: expect.stringMatching(/^The balance .*is 1,000,000,000 credits/),
          detail: { balance: 1_000_000_000, credits: 1_000_000_001 },
          delivery: { state: 'delivered', attempts: 1, error: null },
        },
      ]);
      expect(await call('GET', `${path}/${String(ids[1])}`)).toMatchObject({ firing: true });
      expect(JSON.stringify(one)).not.toContain('secret-of-the-channel');
      await call('GET', `${events}?cursor=nonsense`, undefined, 400);
      await call('GET', `${events}?alert_id=nonsense`, undefined, 400);
    });
  });

  it('are separate: tenants and operator do not see each other’s', async () => {
    const own = await call('POST', CUSTOMER, rule, 201);
    const operators = await call('POST', ADMIN, rule, 201);
    await call('GET', `${ADMIN}/${String(own.id)}`, undefined, 404);
    await call('DELETE', `${CUSTOMER}/${String(operators.id)}`, undefined, 404);
    await evaluate();
    await until(() => receiver.posts.length === 2);
    for (const [path, { id }] of [
      [CUSTOMER, own],
      [ADMIN, operators],
    ] as const) {
      const { data } = await call('GET', path.replace('alerts', 'alert-events'));
      expect(data).toMatchObject([{ alert_id: id }]);
    }
  });

  it('of a tenant are limited to twenty, and never about operator matters', async () => {
    for (const kind of ['route_paused', 'prices_stale', 'prices_differ']) {
      const { error } = await call('POST', CUSTOMER, { ...rule, kind, condition: {} }, 400);
      expect(error).toMatchObject({ param: 'kind' });
    }
    const made = await Promise.all(
      Array.from({ length: 25 }, () => gateway.post(CUSTOMER, rule).then(({ status }) => status)),
    );
    expect(made.filter((status) => status === 201)).toHaveLength(20);
    expect((await call('POST', CUSTOMER, rule, 400)).error).toMatchObject({ param: 'alerts' });
  });

  it('of the operator require an existing tenant', async () => {
    const about = (tenant_id: unknown) => ({ ...rule, condition: { credits: 5, tenant_id } });
    const made = await call('POST', ADMIN, about(gateway.tenantId), 201);
    expect(made.condition).toEqual({ credits: 5, tenant_id: gateway.tenantId });
    for (const id of [randomUUID(), 'nonsense', 5]) {
      const { error } = await call('POST', ADMIN, about(id), 400);
      expect(error).toMatchObject({ param: 'condition.tenant_id' });
    }
    const { error } = await call('POST', CUSTOMER, about(gateway.tenantId), 400);
    expect(error).toMatchObject({ param: 'condition.tenant_id' });
  });

  it('of a budget require an existing tenant, key or end user', async () => {
    const about = (scope: string | null, scope_id: string) => ({
      ...rule,
      kind: 'budget',
      condition: { scope, scope_id },
    });
    const { rows } = await gateway.database.query<{ id: string }>('SELECT id FROM api_keys');
    const keyId = rows[0]!.id;
    await call('POST', CUSTOMER, about('api_key', keyId), 201);
    await call('POST', CUSTOMER, about('tenant', gateway.tenantId), 201);
    await call('POST', CUSTOMER, about('end_user', 'ann'), 201);
    const others = [
      about('api_key', randomUUID()),
      about('api_key', 'nonsense'),
      about('tenant', randomUUID()),
      about(null, keyId),
    ];
    for (const other of others) {
      const { error } = await call('POST', CUSTOMER, other, 400);
      expect(error).toMatchObject({ param: 'condition.scope_id' });
    }
    await call('POST', ADMIN, about('tenant', gateway.tenantId), 201);
    await call('POST', ADMIN, about('tenant', randomUUID()), 400);
  });

  it('of the operator are signed with a secret that is shown at creation', async () => {
    const { secret } = await call('POST', '/v1/admin/webhook-secret/rotate');
    expect(secret).toMatch(/^whsec_/);
    const { id } = await call('POST', ADMIN, rule, 201);
    await call('POST', `${ADMIN}/${String(id)}/test`);
    const { headers, body } = receiver.posts[0]!;
    const [time, ...signatures] = String(headers['x-gateway-signature']).slice(2).split(',v1=');
    const expected = createHmac('sha256', String(secret)).update(`${time}.${body}`).digest('hex');
    expect(signatures).toContain(expected);
  });

  it('report a failing vendor and its recovery', async () => {
    await call('POST', ADMIN, { ...rule, kind: 'vendor_unhealthy', condition: {} }, 201);
    const ask = () =>
      gateway.post('/v1/chat/completions', {
        model: 'one/a',
        messages: [{ role: 'user', content: 'Hello' }],
      });
    const report = async () => {
      await gateway.gateway.application.get(InstanceService, { strict: false }).beat();
      await evaluate();
    };
    await report();
    const polite = setUp.fake.answer;
    setUp.fake.answer = (_, response) => void response.writeHead(500).end('{}');
    for (let count = 0; count < 5; count++) expect((await ask()).status).toBe(502);
    await report();
    await until(() => receiver.posts.length === 1);
    const received = () =>
      receiver.posts.map(({ body }) => (JSON.parse(body) as { data: Json }).data);
    expect(received()[0]).toMatchObject({
      status: 'firing',
      subject: 'one',
      message: "one fails again and again with a, as 1 of the gateway's processes say.",
    });
    setUp.fake.answer = polite;
    expect((await ask()).status).toBe(200);
    await report();
    await until(() => receiver.posts.length === 2);
    expect(received()[1]).toMatchObject({ status: 'resolved', message: 'one no longer fails.' });
  });

  it('report a paused route to the operator, and its end', async () => {
    await call('POST', ADMIN, { ...rule, kind: 'route_paused', condition: {} }, 201);
    await gateway.database.query(
      `INSERT INTO route_pauses (provider, model, reason, paused_by) VALUES ('one', 'one/a', 'prices', 'me')`,
    );
    await evaluate();
    await until(() => receiver.posts.length === 1);
    await gateway.database.query('DELETE FROM route_pauses');
    await evaluate();
    await until(() => receiver.posts.length === 2);
    const messages = receiver.posts.map(
      ({ body }) => (JSON.parse(body) as { data: { message: string } }).data.message,
    );
    expect(messages).toEqual([
      'one/a at one is paused by me: prices',
      'one/a at one is no longer paused.',
    ]);
  });
});
