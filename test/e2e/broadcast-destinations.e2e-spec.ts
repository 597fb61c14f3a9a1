import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SecretBox } from '../../src/platform/crypto/secret-box.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import {
  bootWithBroadcast,
  DESTINATIONS,
  hastenReceivers,
  OPT_IN,
  type BroadcastSetUp,
} from '../support/boot-with-broadcast.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { RECEPTIONS } from '../support/trace-receiver.js';

type Json = Record<string, unknown>;
const URL = 'https://collector.example.com/v1/traces';
const CHAT_BODY = { model: 'other/b', messages: [{ role: 'user', content: 'Hello' }] };

describe('broadcast destinations', () => {
  let database: TestDatabase;
  let setUp: BroadcastSetUp;
  let access: AccessServices;
  let otherKey: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    setUp = await bootWithBroadcast({}, { database });
    access = await openAccessServices(database.url);
    const otherId = await access.makeTenant('other');
    otherKey = (await access.makeKey({ tenantId: otherId })).plaintext;
  });
  afterEach(async () => {
    await setUp.clear();
    setUp.receiver.reception = RECEPTIONS.accept;
    setUp.receiver.deliveries.length = 0;
  });
  afterAll(async () => {
    await access.close();
    await setUp.close();
    await database.drop();
  });

  const put = async (id: string, body: object): Promise<Json> => {
    const response = await setUp.gateway.fetch(`${DESTINATIONS}/${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Json;
  };

  it('can be read and fixed after the encryption secret was replaced', async () => {
    const id = await setUp.send({ url: URL, headers: { 'X-Api-Key': 'collector-secret' } });
    const box = new SecretBox('another-secret-of-at-least-32-characters', 'destination-headers');
    await database.database.query(
      'UPDATE broadcast_destinations SET sealed_headers = $2 WHERE id = $1',
      [id, box.encrypt('{"x-api-key":"collector-secret"}', id)],
    );
    expect(await setUp.destination(id)).toMatchObject({ id, headers: {} });
    const tested = await setUp.gateway.post(`${DESTINATIONS}/${id}/test`, {});
    expect(await tested.json()).toMatchObject({
      delivered: false,
      error: expect.stringContaining('headers can no longer be decrypted'),
    });
    const mended = await put(id, { headers: { 'X-Api-Key': 'new-secret' } });
    expect(mended).toMatchObject({ headers: { 'x-api-key': '********' } });
    await setUp.gateway.fetch(`${DESTINATIONS}/${id}`, { method: 'DELETE' });
  });

  it('creates, lists, reads, changes and deletes; headers are masked and encrypted', async () => {
    const id = await setUp.send({ url: URL, headers: { 'X-Api-Key': 'collector-secret' } });
    const made = await setUp.destination(id);
    expect(made).toMatchObject({
      id,
      destination: 'webhook',
      enabled: true,
      url: URL,
      method: 'POST',
      headers: { 'x-api-key': '********' },
      sampling_rate: 1,
      include_content: false,
      delivered_count: 0,
      dropped_count: 0,
      pending_count: 0,
      last_success_at: null,
      last_error: null,
    });
    const list = (await (await setUp.gateway.fetch(DESTINATIONS)).json()) as { data: Json[] };
    expect(list.data).toEqual([made]);

    const changed = await put(id, { sampling_rate: 0.25, enabled: false });
    expect(changed).toMatchObject({ sampling_rate: 0.25, enabled: false, url: URL });
    const { rows } = await database.database.query<{ headers: string }>(
      `SELECT encode(sealed_headers, 'escape') AS headers FROM broadcast_destinations`,
    );
    expect(rows[0]!.headers).not.toContain('collector-secret');

    const deleted = await setUp.gateway.fetch(`${DESTINATIONS}/${id}`, { method: 'DELETE' });
    expect(await deleted.json()).toEqual({ id, deleted: true });
    expect((await setUp.gateway.fetch(`${DESTINATIONS}/${id}`)).status).toBe(404);
  });

  it('keeps a header sent back masked and drops an omitted one', async () => {
    const id = await setUp.send({ headers: { 'x-one': 'first', 'x-two': 'second' } });
    await put(id, { headers: { 'X-One': '********', 'x-three': 'third' } });
    const tested = await setUp.gateway.post(`${DESTINATIONS}/${id}/test`, {});
    expect(await tested.json()).toMatchObject({ delivered: true, status: 200, error: null });
    const { headers } = setUp.receiver.deliveries[0]!;
    expect([headers['x-one'], headers['x-two'], headers['x-three']]).toEqual([
      'first',
      undefined,
      'third',
    ]);
  });

  it('clears stored headers and pending traces when the URL changes', async () => {
    const id = await setUp.send({ headers: { 'x-key': 'secret' } });
    const { origin } = new globalThis.URL(setUp.receiver.url);
    const masked = { 'x-key': '********' };
    for (const change of [{ url: `${origin}/another` }, { include_content: true }]) {
      for (const value of ['********', '***']) {
        expect(await put(id, { ...change, headers: { 'x-key': value } })).toMatchObject({
          error: { code: 400, param: 'headers.x-key' },
        });
      }
      expect(await setUp.destination(id)).toMatchObject({ headers: masked });
      expect(await put(id, change)).toMatchObject({ ...change, headers: {} });
      expect(await put(id, { headers: { 'x-key': 'secret' } })).toMatchObject({ headers: masked });
      // An unchanged URL keeps them.
      expect(await put(id, { ...change, headers: { 'X-Key': '***' } })).toMatchObject({
        headers: masked,
      });
      expect(await put(id, change)).toMatchObject({ headers: masked });
    }
    await setUp.gateway.post(`${DESTINATIONS}/${id}/test`, {});
    expect(setUp.receiver.deliveries.at(-1)!.headers['x-key']).toBe('secret');
    setUp.receiver.reception = RECEPTIONS.fail;
    const { requestId } = await setUp.gateway
      .post('/v1/chat/completions', CHAT_BODY, OPT_IN)
      .then((response) => ({ requestId: response.headers.get('x-request-id')! }));
    await setUp.receiver.traceOf(requestId);
    const moved = await put(id, { url: 'http://127.0.0.1:9/', headers: { 'x-key': 'new' } });
    expect(moved).toMatchObject({ dropped_count: 1, pending_count: 0, url: 'http://127.0.0.1:9/' });
  });

  it('sends a test trace and reports the outcome', async () => {
    const id = await setUp.send({ enabled: false });
    const good = await setUp.gateway.post(`${DESTINATIONS}/${id}/test`, {});
    expect(good.status).toBe(200);
    const { trace_id } = (await good.json()) as { trace_id: string };
    const [delivery] = setUp.receiver.deliveries;
    expect(delivery!.spans.map(({ traceId }) => traceId)).toEqual([trace_id, trace_id]);
    expect(delivery!.spans[0]).toMatchObject({
      name: 'gateway.broadcast.test',
      attributes: { 'gateway.test': true },
    });
    setUp.receiver.reception = RECEPTIONS.fail;
    const bad = await setUp.gateway.post(`${DESTINATIONS}/${id}/test`, {});
    expect(await bad.json()).toMatchObject({
      delivered: false,
      status: 500,
      error: 'answered with status 500',
    });
  });

  it('times out after ten seconds when a tested destination hangs', async () => {
    const id = await setUp.send();
    setUp.receiver.reception = RECEPTIONS.hang;
    const haste = hastenReceivers();
    const tested = await setUp.gateway.post(`${DESTINATIONS}/${id}/test`, {});
    expect(await tested.json()).toMatchObject({
      delivered: false,
      status: null,
      // A tenth of that, scaled for the test.
      error: 'did not answer within 1 seconds',
    });
    haste.mockRestore();
  });

  it('allows at most five', async () => {
    for (let count = 0; count < 5; count++) await setUp.send({ url: URL });
    const response = await setUp.gateway.post(DESTINATIONS, { url: URL });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'destinations' } });
  });

  it("returns 404 for another tenant's destination and sends it no traces", async () => {
    const id = await setUp.send();
    const call = (path: string, method: string, body?: string) =>
      fetch(setUp.gateway.url + path, {
        method,
        headers: {
          authorization: `Bearer ${otherKey}`,
          'content-type': 'application/json',
          ...OPT_IN,
        },
        ...(body !== undefined && { body }),
      });
    expect(await (await call(DESTINATIONS, 'GET')).json()).toEqual({ data: [] });
    for (const [path, method, body] of [
      [`${DESTINATIONS}/${id}`, 'GET'],
      [`${DESTINATIONS}/${id}`, 'PUT', '{}'],
      [`${DESTINATIONS}/${id}`, 'DELETE'],
      [`${DESTINATIONS}/${id}/test`, 'POST', '{}'],
    ] as const) {
      const response = await call(path, method, body);
      expect([path, response.status]).toEqual([path, 404]);
    }
    expect(setUp.receiver.deliveries).toHaveLength(0);
    for (const method of ['GET', 'POST']) {
      expect((await fetch(setUp.gateway.url + DESTINATIONS, { method })).status).toBe(401);
    }
  });

  it.each<[string, Json, string]>([
    ['no URL', {}, 'url'],
    ['a URL that is none', { url: 'nowhere' }, 'url'],
    ['another scheme', { url: 'file:///etc/passwd' }, 'url'],
    ['FTP', { url: 'ftp://example.com/' }, 'url'],
    ['credentials in the URL', { url: 'https://me:pass@example.com/' }, 'url'],
    ['a rate above 1', { url: URL, sampling_rate: 1.5 }, 'sampling_rate'],
    ['a rate below 0', { url: URL, sampling_rate: -0.1 }, 'sampling_rate'],
    ['no finite rate', { url: URL, sampling_rate: NaN }, 'sampling_rate'],
    ['a rate that is a list', { url: URL, sampling_rate: [1] }, 'sampling_rate'],
    ['a rate that is text', { url: URL, sampling_rate: '1' }, 'sampling_rate'],
    ['another method', { url: URL, method: 'GET' }, 'method'],
    ['another kind', { url: URL, destination: 'kafka' }, 'destination'],
    ['a flag that is text', { url: URL, enabled: 'yes' }, 'enabled'],
    ['content that is no flag', { url: URL, include_content: 1 }, 'include_content'],
    ['headers that are a list', { url: URL, headers: ['a'] }, 'headers'],
    ['a line break in a value', { url: URL, headers: { 'x-a': 'a\r\nb: c' } }, 'headers.x-a'],
    ['a line break in a name', { url: URL, headers: { 'x-a\r\nb': 'c' } }, 'headers'],
    ['a NUL in a value', { url: URL, headers: { 'x-a': 'a\u0000' } }, 'headers.x-a'],
    ['a value that is a number', { url: URL, headers: { 'x-a': 1 } }, 'headers.x-a'],
    ['a host header', { url: URL, headers: { Host: 'other' } }, 'headers.Host'],
    ['a length header', { url: URL, headers: { 'Content-Length': '1' } }, 'headers.Content-Length'],
    [
      'a proxy header',
      { url: URL, headers: { 'Proxy-Authenticate': 'x' } },
      'headers.Proxy-Authenticate',
    ],
    [
      'an inherited property name',
      { url: URL, headers: { constructor: 'x' } },
      'headers.constructor',
    ],
    ['a mask of nothing', { url: URL, headers: { 'x-a': '********' } }, 'headers.x-a'],
    [
      'a header that the delivery sets',
      { url: URL, headers: { 'Content-Type': 'x' } },
      'headers.Content-Type',
    ],
    ['the same header twice', { url: URL, headers: { 'x-a': 'a', 'X-A': 'b' } }, 'headers.X-A'],
    ['an unknown field', { url: URL, retries: 3 }, 'retries'],
  ])('rejects %s', async (_name, body, param) => {
    const response = await setUp.gateway.post(DESTINATIONS, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });
});

describe('without access to private networks', () => {
  let gateway: BootedGateway;

  beforeAll(async () => {
    gateway = await bootGateway();
  });
  afterAll(() => gateway.close());

  it.each([
    'http://127.0.0.1/',
    'http://localhost:4318/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[fe80::1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[fd00::1]/',
    'http://2130706433/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://\uff11\uff12\uff17.0.0.1/',
    'http://localhost./',
    'http://LOCALHOST:8080/',
    'http://a.localhost/',
    'http://\uff4cocalhost/',
    'http://127.0.0.1.:80/',
    'http://example.com@127.0.0.1/',
    'http://example.com:99999/',
    'http://0x7f.1/',
    'http://0.0.0.0/',
    'http://100.64.0.1/',
  ])('rejects %s', async (url) => {
    const response = await gateway.post(DESTINATIONS, { url });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'url' } });
  });
});
