import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { answerEmbeddings, readEmbeddingCall, vectorOf } from '../support/fake-embedders.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest } from '../support/logged-request.js';
import { shortenGraces } from '../support/short-graces.js';
import { until } from '../support/until.js';

const SMALL = 'openai/text-embedding-3-small';
const ENGLISH = 'bedrock/cohere.embed-english-v3';
const texts = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`);

/** Polls until there are rows; gives up after half a minute. */
async function untilSome<Result extends { rows: unknown[] }>(
  ask: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; ; tries++) {
    const result = await ask();
    if (result.rows.length > 0 || tries === 1_500) return result;
    await wait(20);
  }
}

interface EmbeddingList {
  object: string;
  data: { object: string; index: number; embedding: number[] | string }[];
  model: string;
  usage: object;
}

describe('POST /v1/embeddings', () => {
  let vendors: ScriptedServer;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    vendors = await startScriptedServer(answerEmbeddings);
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key',
      OPENAI_BASE_URL: `${vendors.origin}/v1`,
      AZURE_OPENAI_ENDPOINT: vendors.origin,
      AZURE_OPENAI_API_KEY: 'azure-key',
      GOOGLE_CLOUD_PROJECT: 'my-project',
      VERTEX_LOCATION: 'global',
      VERTEX_BASE_URL: vendors.origin,
      VERTEX_ACCESS_TOKEN: 'vertex-token',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'aws-secret',
      AWS_BEDROCK_ENDPOINT: vendors.origin,
      GATEWAY_COOLDOWN_MS: '1',
    });
    shortenGraces(gateway);
    client = new OpenAI({
      apiKey: gateway.apiKey,
      baseURL: `${gateway.url}/v1`,
      maxRetries: 0,
    });
  });
  afterAll(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
    await vendors.close();
  });
  beforeEach(() => {
    vendors.calls.length = 0;
    vendors.script = answerEmbeddings;
  });

  const post = async (body: object) => {
    const response = await gateway.post('/v1/embeddings', body);
    return { response, list: (await response.json()) as EmbeddingList };
  };
  const logOf = (response: Response) =>
    loggedRequest(gateway.database, response.headers.get('x-request-id'));

  it.each(['sandbox/embed', SMALL, 'azure/text-embedding-3-large'])(
    'returns the same vectors of %s through the SDK by default and as floats',
    async (model) => {
      const input = ['text 5', 'another text 6'];
      const usual = await client.embeddings.create({ model, input });
      const floats = await client.embeddings.create({ model, input, encoding_format: 'float' });
      expect(usual).toMatchObject({ object: 'list', model, usage: floats.usage });
      expect(usual.data.map(({ index }) => index)).toEqual([0, 1]);
      // The SDK requests base64 by default and decodes it.
      expect(usual.data.map(({ embedding }) => Array.from(embedding))).toEqual(
        floats.data.map(({ embedding }) => embedding),
      );
    },
  );

  it('creates unit vectors in the sandbox, with the requested number of dimensions', async () => {
    const { list } = await post({ model: 'sandbox/embed', input: 'Hello!', dimensions: 8 });
    const embedding = list.data[0]!.embedding as number[];
    expect(embedding).toHaveLength(8);
    expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
  });

  it('answers like OpenAI, charges and logs', async () => {
    const { response, list } = await post({ model: SMALL, input: ['x'.repeat(50), 'y'] });
    expect(list).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [50, 0] },
        { object: 'embedding', index: 1, embedding: [1, 0] },
      ],
      model: SMALL,
      usage: { prompt_tokens: 51, total_tokens: 51 },
    });
    // 51 × 0.02 = 1.02
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-gateway-cost': '2',
      'x-gateway-provider': 'openai',
      'x-cache': 'MISS',
      'x-ratelimit-limit': '100000',
    });
    const row = await logOf(response);
    expect(row).toMatchObject({
      endpoint: 'embeddings',
      model: SMALL,
      provider: 'openai',
      outcome: 'completed',
      cost: 2,
      usage_source: 'upstream',
      prompt_tokens: 51,
      completion_tokens: 0,
    });
    const record = await gateway.fetch(`/v1/generation?id=${row.request_id}`);
    expect(await record.json()).toMatchObject({
      data: {
        model: SMALL,
        provider_name: 'openai',
        tokens_prompt: 51,
        tokens_completion: 0,
        total_cost: 2,
        finish_reason: 'stop',
        streamed: false,
      },
    });
  });

  it('passes fields on to a vendor of the same dialect, without the gateway’s own', async () => {
    await post({
      model: SMALL,
      input: [[1, 2], [3]],
      user: 'ann',
      dimensions: 64,
      later_field: true,
      provider: { only: ['openai'] },
    });
    expect(vendors.calls[0]!.headers.authorization).toBe('Bearer sk-vendor-key');
    expect(JSON.parse(vendors.calls[0]!.body.toString())).toEqual({
      model: 'text-embedding-3-small',
      input: [[1, 2], [3]],
      user: 'ann',
      dimensions: 64,
      later_field: true,
    });
  });

  it('works the same under /api/v1', async () => {
    const response = await gateway.post('/api/v1/embeddings', { model: SMALL, input: 'text 7' });
    expect(response.status).toBe(200);
    expect(((await response.json()) as EmbeddingList).data[0]!.embedding).toEqual([6, 7]);
  });

  it('falls back to another provider of the same model, at its price', async () => {
    vendors.script = (call, response) => {
      if (call.path === '/v1/embeddings') {
        response.writeHead(503).end();
        return;
      }
      return answerEmbeddings(call, response);
    };
    // 250 × 0.022 = 5.5
    const { response, list } = await post({ model: SMALL, input: 'x'.repeat(250) });
    expect(response.headers.get('x-gateway-provider')).toBe('azure');
    expect(response.headers.get('x-gateway-cost')).toBe('6');
    expect(list.model).toBe(SMALL);
    expect(vendors.calls.map(({ path }) => path)).toEqual([
      '/v1/embeddings',
      '/v1/embeddings',
      '/openai/v1/embeddings',
    ]);
    expect(vendors.calls[2]!.headers['api-key']).toBe('azure-key');
    expect(await logOf(response)).toMatchObject({ provider: 'azure', cost: 6 });
  });

  it.each<[string, number[]]>([
    ['vertex/text-embedding-005', [3]],
    ['vertex/gemini-embedding-001', [1, 1, 1]],
  ])('requests vectors of %s in calls with %j texts', async (model, sizes) => {
    const input = texts(3);
    const { response, list } = await post({ model, input, dimensions: 2, user: 'ann' });
    expect(list.data.map(({ embedding }) => embedding)).toEqual(input.map(vectorOf));
    expect(list.usage).toEqual({ prompt_tokens: 18, total_tokens: 18 });
    expect(response.headers.get('x-gateway-dropped-params')).toBe('user');
    const calls = vendors.calls.map(readEmbeddingCall);
    expect(calls.map((call) => call.texts.length)).toEqual(sizes);
    expect(calls[0]!.body.parameters).toEqual({ autoTruncate: false, outputDimensionality: 2 });
    expect(vendors.calls[0]!.headers.authorization).toBe('Bearer vertex-token');
    expect(vendors.calls[0]!.path).toBe(
      `/v1/projects/my-project/locations/global/publishers/google/models/${model.slice(7)}:predict`,
    );
  });

  it.each(['vertex/text-embedding-005', ENGLISH])(
    'decodes tokens to texts for %s',
    async (model) => {
      // cl100k
      const { response, list } = await post({ model, input: [[9906, 1917], [9906]] });
      expect(list.data.map(({ embedding }) => embedding)).toEqual(
        ['Hello world', 'Hello'].map(vectorOf),
      );
      // The fake counts more than was held.
      const { cost, prompt_tokens: tokens } = await logOf(response);
      expect(tokens).toBeLessThanOrEqual(2 * 3);
      expect(cost).toBeGreaterThan(0);
      const refused = await gateway.post('/v1/embeddings', { model, input: [2 ** 31 - 1] });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { param: 'input' } });
    },
  );

  it('joins 2,048 texts in order for a vendor that accepts 96', async () => {
    const input = texts(2_048);
    const { response, list } = await post({ model: ENGLISH, input, encoding_format: 'float' });
    expect(list.data.map(({ embedding }) => embedding)).toEqual(input.map(vectorOf));
    expect(list.data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
    const calls = vendors.calls.map(readEmbeddingCall);
    expect(calls).toHaveLength(22);
    expect(new Set(calls.map(({ body }) => body.input_type))).toEqual(new Set(['search_document']));
    expect(vendors.calls[0]!.path).toBe('/model/cohere.embed-english-v3/invoke');
    const tokens = Math.ceil(input.join('').length / 4);
    expect(await logOf(response)).toMatchObject({
      prompt_tokens: tokens,
      usage_source: 'estimated',
      cost: Math.ceil(tokens / 10),
    });
  });

  it.each<[string, string | string[], number, number]>([
    ['at most a letter', 'x', 1, 1],
    ['ten tokens, a whole credit', 'x'.repeat(40), 10, 1],
    ['one more letter', 'x'.repeat(41), 11, 2],
    ['Chinese, by characters and not bytes', '東'.repeat(40), 10, 1],
    ['emoji, by code points and not units', '🙂'.repeat(44), 11, 2],
    ['emoji that are several code points', '👩‍🚀'.repeat(14), 11, 2],
    ['several texts, rounded once', ['x'.repeat(21), 'y'.repeat(19)], 10, 1],
  ])('estimates and charges %s exactly', async (_name, input, tokens, cost) => {
    const { response, list } = await post({ model: 'bedrock/cohere.embed-multilingual-v3', input });
    expect(list.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    expect(response.headers.get('x-gateway-cost')).toBe(String(cost));
    expect(await logOf(response)).toMatchObject({
      cost,
      prompt_tokens: tokens,
      usage_source: 'estimated',
    });
  });

  it('ends the vendor’s calls when the caller disconnects', async () => {
    vendors.script = () => undefined;
    const aborter = new AbortController();
    const leaving = client.embeddings.create(
      { model: ENGLISH, input: texts(200) },
      { signal: aborter.signal },
    );
    const left = expect(leaving).rejects.toThrow('aborted');
    await until(() => vendors.calls.length >= 3);
    aborter.abort();
    await left;
    await Promise.all(vendors.calls.map(({ hungUp }) => hungUp));
    const tokens = Math.ceil(texts(200).join('').length / 4);
    const { rows } = await untilSome(() =>
      gateway.database.query<{ cost: number; prompt_tokens: number }>(
        "SELECT cost, prompt_tokens FROM request_logs WHERE outcome = 'cancelled'",
      ),
    );
    expect(rows).toEqual([{ cost: Math.ceil(tokens / 10), prompt_tokens: tokens }]);
  });

  it('charges nothing when every provider fails', async () => {
    vendors.script = (_call, response) => void response.writeHead(500).end();
    const response = await gateway.post('/v1/embeddings', { model: ENGLISH, input: texts(200) });
    expect(response.status).toBe(502);
    expect(await logOf(response)).toMatchObject({ outcome: 'failed', cost: 0 });
  });
});
