import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  KeySetDto,
  SignedReceiptDto,
} from '../../src/features/customer/receipts/receipts.dto.js';
import { openAccessServices, type AccessServices } from '../support/access-services.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { runOperatorCommand } from '../support/operator-command.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { insertRequestLogRow } from '../support/request-log-rows.js';
import { idOf } from '../support/logged-request.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { form, wave } from '../support/uploads.js';

const RECEIPTS = '/v1/customer/receipts';
const KEYS = '/.well-known/jwks.json';
const CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'one two three' }] };

/** A sandbox model with prices for long prompts. */
const LONG = {
  id: 'sandbox/long',
  context_length: 1_000_000,
  pricing: { prompt: '0.000002', completion: '0.00001' },
  long_prompts: [{ above: 200_000, pricing: { prompt: '0.000004', completion: '0.000015' } }],
  routes: [{ provider: 'sandbox', model: 'words', priority: 0 }],
};

let folder: string;
let testDatabase: TestDatabase;
let gateway: BootedGateway;
let access: AccessServices;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-receipts-'));
  testDatabase = await createTestDatabase();
  const catalogue = join(folder, 'catalogue.json');
  await writeFile(catalogue, JSON.stringify([LONG]));
  gateway = await bootGateway({ GATEWAY_CATALOGUE: catalogue }, { database: testDatabase });
  access = await openAccessServices(testDatabase.url);
});
afterAll(async () => {
  await access.close();
  await gateway.close();
  await testDatabase.drop();
  await rm(folder, { recursive: true });
});

async function receiptOf(requestId: string, by = gateway): Promise<SignedReceiptDto> {
  const path = `${RECEIPTS}/${requestId}`;
  await until(async () => (await by.fetch(path)).status === 200);
  return (await (await by.fetch(path)).json()) as SignedReceiptDto;
}

async function keySet(by = gateway): Promise<KeySetDto> {
  return (await (await fetch(by.url + KEYS)).json()) as KeySetDto;
}

/** Runs a script of the documentation unchanged. */
function run(script: string, input: string, ...files: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const paths = [join('docs', script), ...files];
    const child = execFile(process.execPath, paths, (error, output) =>
      error instanceof Error ? reject(error) : resolve(output),
    );
    child.stdin!.end(input);
  });
}

/** Checks a receipt with the scripts and against the log. */
async function check(signed: SignedReceiptDto): Promise<void> {
  const files = [join(folder, 'receipt.json'), join(folder, 'jwks.json')];
  await writeFile(files[0]!, JSON.stringify(signed));
  await writeFile(files[1]!, JSON.stringify(await keySet()));
  const payload = await run('check-receipt.mjs', '', ...files);
  const read: unknown = JSON.parse(payload);
  expect(read).toEqual(signed.receipt);
  const { cost, parts } = signed.receipt.charge;
  expect(await run('recompute-receipt.mjs', payload)).toContain(`${cost} credits were charged`);
  expect(Object.values<number>({ ...parts }).reduce((sum, part) => sum + part)).toBe(cost);
  const { rows } = await testDatabase.database.query<{ cost: number; charged: number }>(
    `SELECT cost, (SELECT coalesce(-sum(amount), 0)::integer FROM ledger_entries
                   WHERE request_id = $1 AND kind IN ('charge', 'shortfall')) AS charged
     FROM request_logs WHERE request_id = $1`,
    [signed.receipt.request.id],
  );
  expect(rows).toEqual([{ cost, charged: cost }]);
}

const json = (path: string, body: object) => () => gateway.post(path, body);
const KINDS: [string, () => Promise<Response>, object][] = [
  ['chat', json('/v1/chat/completions', CHAT), { counts: { input_tokens: expect.any(Number) } }],
  [
    'messages',
    json('/v1/messages', { ...CHAT, max_tokens: 20, stream: true }),
    { counts: { output_tokens: expect.any(Number) } },
  ],
  ['responses', json('/v1/responses', { model: 'sandbox/echo', input: 'one two' }), {}],
  ['embeddings', json('/v1/embeddings', { model: 'sandbox/embed', input: ['one', 'two'] }), {}],
  [
    'audio.speech',
    json('/v1/audio/speech', { model: 'sandbox/speech', input: 'Hello', voice: 'alloy' }),
    { counts: { input_characters: 5 } },
  ],
  [
    'audio.transcriptions',
    () => {
      const body = form({ model: 'sandbox/transcribe' }, wave(1_700));
      return gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body });
    },
    { counts: { audio_ms: 1_700 } },
  ],
  [
    'images',
    json('/v1/images/generations', { model: 'sandbox/image', prompt: 'A cat', n: 2 }),
    { counts: { images: 2 } },
  ],
  [
    'jobs',
    json('/v1/jobs', { model: 'sandbox/video', prompt: 'A cat', seconds: 2 }),
    { counts: { video_seconds: 2 } },
  ],
];

describe(`GET ${RECEIPTS}/{request_id}`, () => {
  it.each(KINDS)('explains the cost of a request to %s', async (endpoint, send, usage) => {
    const signed = await receiptOf(await idOf(send()));
    await check(signed);
    const { request, charge, prices } = signed.receipt;
    expect(request.endpoint).toBe(endpoint);
    expect(charge.cost).toBeGreaterThan(0);
    expect(prices).not.toBeNull();
    expect(signed.receipt.usage).toMatchObject(usage);
  });

  it.each([
    [300_000, false, 4, 15],
    [300_000, true, 4, 15],
    [100_000, false, 2, 10],
  ])(
    'explains the cost of a prompt of %d tokens by its length (stream: %s)',
    async (tokens, stream, ...prices) => {
      const messages = [{ role: 'user', content: `3 words ${'four '.repeat(tokens)}` }];
      const id = await idOf(
        gateway.post('/v1/chat/completions', { model: LONG.id, messages, stream, max_tokens: 9 }),
      );
      const signed = await receiptOf(id);
      await check(signed);
      const { input_tokens: input, output_tokens: output } = signed.receipt.usage.counts;
      expect(input).toBeGreaterThanOrEqual(tokens);
      expect(signed.receipt.charge.cost).toBe(input! * prices[0] + output! * prices[1]);
    },
  );

  it('contains no content', async () => {
    const body = { ...CHAT, messages: [{ role: 'user', content: 'planted-marker' }] };
    const signed = await receiptOf(await idOf(gateway.post('/v1/chat/completions', body)));
    expect(JSON.stringify(signed.receipt)).not.toContain('planted-marker');
  });

  it('shows a cached answer as free', async () => {
    const send = () => gateway.post('/v1/chat/completions', CHAT, { 'x-gateway-cache': 'true' });
    await idOf(send());
    const signed = await receiptOf(await idOf(send()));
    await check(signed);
    expect(signed.receipt.answer.cached).toBe(true);
    expect(signed.receipt.charge).toMatchObject({ lines: [], sum: '0', cost: 0 });
  });

  it('shows that a failure costs nothing', async () => {
    const body = { ...CHAT, model: 'sandbox/fault-500' };
    const signed = await receiptOf(await idOf(gateway.post('/v1/chat/completions', body)));
    await check(signed);
    expect(signed.receipt).toMatchObject({
      answer: { outcome: 'failed', error_type: 'provider_error', cached: false },
      prices: null,
      charge: { lines: [], cost: 0 },
    });
  });

  it('adds up for a disconnected caller, whose usage is an estimate', async () => {
    const leaving = new AbortController();
    const words = 'many words '.repeat(2_000);
    const body = { model: 'sandbox/words', messages: [{ role: 'user', content: words }] };
    const response = await gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true, max_tokens: 5_000 }),
      signal: leaving.signal,
    });
    await response.body!.getReader().read();
    leaving.abort();
    await check(await receiptOf(response.headers.get('x-request-id')!));
  });

  it('shows refunds', async () => {
    const { database } = testDatabase;
    const requestId = await idOf(gateway.post('/v1/chat/completions', CHAT));
    await receiptOf(requestId);
    await database.query(
      `INSERT INTO ledger_entries (tenant_id, kind, amount, request_id) VALUES ($1, 'refund', 2, $2)`,
      [gateway.tenantId, requestId],
    );
    const { charge } = (await receiptOf(requestId)).receipt;
    expect(charge.refunds).toEqual([{ amount: 2, created_at: expect.any(String) }]);
    expect(charge.net).toBe(charge.cost - 2);
  });

  it('says of old rows that their prices were not stored', async () => {
    const { requestId } = await insertRequestLogRow(testDatabase.database, gateway.tenantId);
    const { receipt } = await receiptOf(requestId);
    expect(receipt).toMatchObject({ prices: null, charge: { lines: null, sum: null, cost: 20 } });
  });

  it("is 404 for another tenant's, an unknown, a malformed and a deleted one", async () => {
    const requestId = await idOf(gateway.post('/v1/chat/completions', CHAT));
    await receiptOf(requestId);
    const tenantId = await access.makeTenant('another tenant');
    const { plaintext } = await access.makeKey({ tenantId });
    const other = { authorization: `Bearer ${plaintext}` };
    const path = `${RECEIPTS}/${requestId}`;
    expect((await gateway.fetch(path, { headers: other })).status).toBe(404);
    for (const id of [tenantId, 'no-id', "'"]) {
      const response = await gateway.fetch(`${RECEIPTS}/${id}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { param: 'request_id' } });
    }
    await testDatabase.database.query('DELETE FROM request_logs WHERE request_id = $1', [
      requestId,
    ]);
    expect((await gateway.fetch(path)).status).toBe(404);
  });
});

describe('prices that change', () => {
  let files: OperatorFiles;
  let withHigherPrices: BootedGateway;

  beforeAll(async () => {
    files = await writeOperatorFiles({}, [
      { id: 'sandbox/echo', pricing: { prompt: '0.00007', completion: '0.00009' } },
    ]);
    const environment = { ...files.environment, GATEWAY_BOOTSTRAP_API_KEY: gateway.apiKey };
    withHigherPrices = await bootGateway(environment, { database: testDatabase });
  });
  afterAll(async () => {
    await withHigherPrices.close();
    await files.remove();
  });

  it('are those of the settlement on each receipt, whichever instance signs it', async () => {
    const before = await idOf(gateway.post('/v1/chat/completions', CHAT));
    const after = await idOf(withHigherPrices.post('/v1/chat/completions', CHAT));
    const [cheap, expensive] = [
      await receiptOf(before, withHigherPrices),
      await receiptOf(after, gateway),
    ];
    await check(cheap);
    await check(expensive);
    expect(cheap.receipt.prices?.usd).toMatchObject({ prompt: '0.000001' });
    expect(expensive.receipt.prices?.usd).toMatchObject({ prompt: '0.00007' });
    expect(expensive.receipt.charge.cost).toBeGreaterThan(cheap.receipt.charge.cost * 20);
  });

  it('are stored with their first settlement, and never again', async () => {
    const sheets = async () => {
      const sql = 'SELECT id, first_used_at FROM price_sheets ORDER BY id';
      return (await testDatabase.database.query(sql)).rows;
    };
    const known = await sheets();
    await receiptOf(await idOf(withHigherPrices.post('/v1/chat/completions', CHAT)));
    expect(await sheets()).toEqual(known);
  });
});

describe(`GET ${KEYS}`, () => {
  it('needs no key and may be cached for a while', async () => {
    const response = await fetch(gateway.url + KEYS);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const text = await response.text();
    expect(Object.keys((JSON.parse(text) as KeySetDto).keys[0]!)).not.toContain('d');
  });

  it('lists the previous key after a rotation, without signing with it', async () => {
    const requestId = await idOf(gateway.post('/v1/chat/completions', CHAT));
    const old = await receiptOf(requestId);
    const { keys: before } = await keySet();
    const { code, output } = await runOperatorCommand(
      { DATABASE_URL: testDatabase.url, GATEWAY_SECRET: 'the-secret-of-every-gateway-under-test' },
      'receipts',
      'rotate-key',
    );
    expect([code, output]).toEqual([0, expect.stringContaining(before[0]!.kid)]);
    const { rows } = await testDatabase.database.query(
      `SELECT actor_kind, target_id, before FROM audit_log WHERE action = 'signing_key.rotate'`,
    );
    const { keys } = await keySet();
    expect(rows).toEqual([
      { actor_kind: 'command', target_id: keys[0]!.kid, before: { id: before[0]!.kid } },
    ]);
    expect(keys.map(({ kid }) => kid)).toEqual([expect.any(String), before[0]!.kid]);
    const { jws } = await receiptOf(requestId);
    const header = Buffer.from(jws.split('.')[0]!, 'base64url').toString();
    expect(JSON.parse(header)).toEqual({ alg: 'EdDSA', typ: 'receipt+jws', kid: keys[0]!.kid });
    await check(old);
    await check(await receiptOf(requestId));
  });

  it('rejects receipts that were changed after signing', async () => {
    const signed = await receiptOf(await idOf(gateway.post('/v1/chat/completions', CHAT)));
    const [header, , signature] = signed.jws.split('.');
    const forged = Buffer.from(JSON.stringify({ ...signed.receipt, version: 2 }));
    const jws = [header, forged.toString('base64url'), signature].join('.');
    await expect(check({ ...signed, jws })).rejects.toThrow('signature does not match');
  });

  it('has one key after two instances have needed the first at once', async () => {
    const own = await createTestDatabase();
    const instances = await Promise.all([
      bootGateway({}, { database: own }),
      bootGateway({}, { database: own }),
    ]);
    const lists = await Promise.all(instances.map((instance) => keySet(instance)));
    expect(lists[0]!.keys).toHaveLength(1);
    expect(lists[1]).toEqual(lists[0]);
    await Promise.all(instances.map((instance) => instance.close()));
    await own.drop();
  });
});
