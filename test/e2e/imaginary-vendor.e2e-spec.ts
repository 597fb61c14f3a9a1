import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { loadSettings } from '../../src/app/load-settings.js';
import { VENDORS } from '../../src/vendors/vendors.js';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { imaginary } from '../support/imaginary-vendor/imaginary.vendor.js';
import { loggedRequest } from '../support/logged-request.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';

// The line in the list from docs/adding-a-provider.md; its folder is test/support/imaginary-vendor.
VENDORS.push(imaginary);

const LINES = [
  { said: 'Grüße ' },
  { said: 'von 世界.' },
  { why: 'done', spent: { heard: 12, spoken: 5 } },
];
const BODY = Buffer.from(LINES.map((line) => `${JSON.stringify(line)}\n`).join(''));
const HEADERS = { 'content-type': 'application/x-ndjson' };

describe('a vendor added by a folder and a line in the list', () => {
  let vendor: ScriptedServer;
  let files: OperatorFiles;
  let gateway: BootedGateway;

  beforeAll(async () => {
    vendor = await startScriptedServer(reply(200, HEADERS, BODY));
    const pricing = { prompt: '0.000002', completion: '0.000003' };
    files = await writeOperatorFiles({}, [
      { id: 'imaginary/dreamer', pricing },
      {
        id: 'imaginary/fallible',
        pricing,
        routes: [
          { provider: 'imaginary', model: 'fallible', priority: 0 },
          { provider: 'sandbox', model: 'echo', priority: 1 },
        ],
      },
    ]);
    gateway = await bootGateway({
      ...files.environment,
      IMAGINARY_KEY: 'open-sesame',
      IMAGINARY_BASE_URL: vendor.origin,
      IMAGINARY_DISTRICT: 'north',
      GATEWAY_COOLDOWN_MS: '1',
    });
  });
  afterEach(() => {
    vendor.script = reply(200, HEADERS, BODY);
  });
  afterAll(async () => {
    await gateway.close();
    await vendor.close();
    await files.remove();
    // Later suites share the list.
    VENDORS.pop();
  });

  const ask = (rest: object = {}): Promise<Response> =>
    gateway.post('/v1/chat/completions', {
      model: 'imaginary/dreamer',
      messages: [{ role: 'user', content: 'Hello' }],
      temperature: 0.5,
      seed: 7,
      ...rest,
    });

  it('is called in its own format, with its key and settings', async () => {
    await (await ask()).text();
    const call = vendor.calls.at(-1)!;
    expect(call).toMatchObject({
      method: 'POST',
      path: '/speak',
      headers: { 'x-password': 'open-sesame', 'x-district': 'north' },
    });
    expect(JSON.parse(call.body.toString())).toEqual({
      mind: 'dreamer',
      mood: 0.5,
      piecemeal: false,
      heard: [{ who: 'user', said: 'Hello' }],
    });
  });

  it('answers whole, is charged and logged, and unsupported fields are named', async () => {
    const response = await ask();
    expect(await response.json()).toMatchObject({
      model: 'imaginary/dreamer',
      choices: [{ message: { content: 'Grüße von 世界.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 5 },
    });
    expect(response.headers.get('x-gateway-provider')).toBe('imaginary');
    expect(response.headers.get('x-gateway-dropped-params')).toBe('seed');
    const row = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
    expect(row).toMatchObject({ provider: 'imaginary', cost: 12 * 2 + 5 * 3 });
  });

  it('answers streamed, at the same charge', async () => {
    const response = await ask({ stream: true });
    const body = await response.text();
    expect(body).toContain('"content":"Grüße "');
    expect(body).toContain('"finish_reason":"stop"');
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
    const row = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
    expect(row).toMatchObject({ provider: 'imaginary', cost: 12 * 2 + 5 * 3 });
  });

  it('is listed with its model', async () => {
    const models = (await (await gateway.fetch('/v1/models')).json()) as { data: { id: string }[] };
    expect(models.data.map((model) => model.id)).toContain('imaginary/dreamer');
    const providers = await (await gateway.fetch('/v1/providers')).text();
    expect(providers).toContain('"imaginary"');
  });

  it('has its settings checked', () => {
    expect(() => loadSettings({ IMAGINARY_BASE_URL: 'nowhere' })).toThrow(
      'IMAGINARY_BASE_URL must be a URL',
    );
  });

  it('is called with a tenant’s BYOK account if one is stored', async () => {
    const stored = await gateway.fetch('/v1/customer/provider-credentials', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.managementKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ provider: 'imaginary', key: 'a-tenants-own-word' }),
    });
    expect(stored.status).toBe(201);
    const { id } = (await stored.json()) as { id: string };
    await (await ask()).text();
    expect(vendor.calls.at(-1)!.headers).toMatchObject({ 'x-password': 'a-tenants-own-word' });
    const dropped = await gateway.fetch(`/v1/customer/provider-credentials/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${gateway.managementKey}` },
    });
    expect(dropped.ok).toBe(true);
  });

  it.each([
    ['fails', reply(500, {}, Buffer.from('ouch'))],
    ['rejects the key', reply(401, {}, Buffer.from('who?'))],
    ['is interrupted before any content', reply(200, HEADERS, Buffer.alloc(0))],
    ['sends garbage', reply(200, HEADERS, Buffer.from('mmh\n'))],
  ])('is skipped for the next route when it %s', async (_name, script) => {
    vendor.script = script;
    const response = await ask({ model: 'imaginary/fallible' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-provider')).toBe('sandbox');
  });

  it('passes on its error about a request', async () => {
    vendor.script = reply(422, {}, Buffer.from('too moody'));
    const response = await ask({ model: 'imaginary/fallible' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('too moody');
  });
});
