import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tmpdir } from 'node:os';
import type { JsonObject } from '../../src/platform/http/json-body.js';
import { startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { openAiVendor } from '../contract/vendors/openai.vendor.js';
import { filesOfThePage } from '../support/files-of-the-page.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const API_KEY = 'sk-page-test-key-0000001';
const MODEL = 'acme/llama-3.3-70b';

/** Follows the page exactly: applies the diff to a copy of the program and sets one variable. */
describe('a vendor added by the folder in docs/adding-a-provider.md', () => {
  let root: string;
  let vendor: ScriptedServer;
  let database: TestDatabase;
  let gateway: SpawnedGateway | undefined;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'page-'));
    await cp(join(ROOT, 'dist'), join(root, 'dist'), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    await cp(join(ROOT, 'package.json'), join(root, 'package.json'));
    for (const [path, text] of filesOfThePage()) {
      const file = join(root, 'dist', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    vendor = await startScriptedServer((_call, response) => {
      const { status, headers, body } = openAiVendor.whole({
        text: 'Hello.',
        finish: 'stop',
        usage: { input: 1_000, output: 500 },
      });
      response.writeHead(status, headers).end(body);
    });
    database = await createTestDatabase();
    gateway = await spawnGateway(
      {
        DATABASE_URL: database.url,
        GATEWAY_DATA_DIR: join(root, 'data'),
        GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
        GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
        GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
        GATEWAY_CHECK_KEYS: 'off',
        ACME_API_KEY: 'acme-0123456789',
        // The page's vendor is made up and needs an address.
        ACME_BASE_URL: `${vendor.origin}/v1`,
      },
      'main',
      root,
    );
  });
  afterAll(async () => {
    await gateway?.stop();
    await vendor.close();
    await database.drop();
    await rm(root, { recursive: true, force: true });
  });

  const call = (path: string, body?: object): Promise<Response> =>
    fetch(`${gateway!.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });

  it('lists its models with their prices', async () => {
    const shown = await call(`/v1/models/${MODEL}`);
    expect(await shown.json()).toMatchObject({
      context_length: 131_072,
      pricing: { prompt: '0.0000005', completion: '0.0000008' },
    });
    const providers = (await (await call('/v1/providers')).json()) as { data: { id: string }[] };
    expect(providers.data).toContainEqual(expect.objectContaining({ id: 'acme', name: 'Acme AI' }));
  });

  it('is called according to its quirks, and charged by its rows', async () => {
    const answer = await call('/v1/chat/completions', {
      model: MODEL,
      messages: [{ role: 'user', content: 'Hi' }],
      seed: 7,
      logit_bias: { 1: 2 },
      parallel_tool_calls: true,
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      model: MODEL,
      choices: [{ message: { content: 'Hello.' } }],
    });
    const [sent] = vendor.calls;
    expect([sent!.path, sent!.headers.authorization]).toEqual([
      '/v1/chat/completions',
      'Bearer acme-0123456789',
    ]);
    const body = JSON.parse(sent!.body.toString()) as JsonObject;
    expect(body).toMatchObject({ model: 'llama-3.3-70b', random_seed: 7 });
    expect(Object.keys(body)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:seed|logit_bias|parallel_tool_calls)$/)]),
    );
    expect(answer.headers.get('x-gateway-cost')).toBe('900');
  });

  it('serves models with the same weights as other vendors without keys', async () => {
    const answer = await call('/v1/chat/completions', {
      model: 'groq/llama-3.3-70b-versatile',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(answer.headers.get('x-gateway-provider')).toBe('acme');
  });
});
