import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';

interface Listed {
  id: string;
  architecture: object | null;
  pricing: Record<string, string>;
}

describe('the catalogue', () => {
  let fake: FakeOpenAi;
  let files: OperatorFiles;
  let gateway: BootedGateway;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    files = await writeOperatorFiles({ local: fake.baseUrl }, [
      { id: 'local/small', pricing: { prompt: '0', completion: '0' } },
      { id: 'local/unpriced', pricing: { prompt: '0.000001' } },
      { id: 'local/fam:*', pricing: { prompt: '0.000001', completion: '0.000001' } },
      { id: 'local/fam:special*', pricing: { prompt: '0.000005', completion: '0.000005' } },
      { id: 'openai/gpt-4o-mini', pricing: { completion: '0.000009' } },
    ]);
    gateway = await bootGateway({
      ...files.environment,
      OPENAI_API_KEY: 'sk-vendor',
      OPENAI_BASE_URL: fake.baseUrl,
    });
  });
  afterAll(async () => {
    await gateway.close();
    await fake.close();
    await files.remove();
  });

  const get = async <Body>(path: string): Promise<{ status: number; body: Body }> => {
    const response = await gateway.fetch(path);
    return { status: response.status, body: (await response.json()) as Body };
  };

  it.each(['/v1/models', '/api/v1/models'])(
    '%s lists the models of configured providers',
    async (path) => {
      const { body } = await get<{ data: Listed[] }>(path);
      const ids = body.data.map((model) => model.id);
      expect(ids).toEqual(
        expect.arrayContaining(['openai/gpt-4o-mini', 'sandbox/echo', 'local/small']),
      );
      expect(ids).toEqual(expect.arrayContaining(['openai/text-embedding-3-small']));
      expect(ids.filter((id) => id.endsWith('*'))).toEqual([]);
      expect(ids).not.toContain('local/unpriced');
      expect(ids.filter((id) => /^(vertex|fish-audio)\//.test(id))).toEqual([]);
    },
  );

  it('lists the providers of a model, with a plain or encoded slash', async () => {
    for (const path of ['/v1/models/openai/gpt-4o-mini', '/api/v1/models/openai%2Fgpt-4o-mini']) {
      const { status, body } = await get<{ data: Record<string, unknown> }>(`${path}/endpoints`);
      expect(status).toBe(200);
      expect(body.data).toMatchObject({
        id: 'openai/gpt-4o-mini',
        architecture: { modality: expect.any(String) },
        endpoints: [
          {
            tag: 'openai',
            model_id: 'openai/gpt-4o-mini',
            pricing: { prompt: '0.00000015', completion: '0.000009' },
            supports_implicit_caching: true,
            state: 'healthy',
            status: 0,
            latency_last_30m: null,
            throughput_last_30m: null,
            is_own_account: false,
          },
        ],
      });
    }
    const member = await get<{ data: unknown }>('/v1/models/local/fam:x/endpoints');
    expect(member.body.data).toMatchObject({ endpoints: [{ tag: 'local' }] });
    expect(await get('/v1/models/openai/nobody/endpoints')).toMatchObject({
      status: 404,
      body: { error: { param: 'id' } },
    });
    expect((await get('/v1/models/vertex/gemini-2.5-pro/endpoints')).status).toBe(404);
  });

  it('returns a model in the interface’s shape, with a plain or encoded slash', async () => {
    for (const path of ['/v1/models/openai/gpt-4o-mini', '/v1/models/openai%2Fgpt-4o-mini']) {
      const { status, body } = await get<Record<string, unknown>>(path);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        id: 'openai/gpt-4o-mini',
        object: 'model',
        owned_by: 'openai',
        // The operator's file overrides one price.
        pricing: { prompt: '0.00000015', completion: '0.000009', request: '0', image: '0' },
        per_request_limits: null,
      });
      expect(Object.keys(body)).toEqual([
        'id',
        'object',
        'created',
        'owned_by',
        'name',
        'description',
        'context_length',
        'pricing',
        'architecture',
        'top_provider',
        'supported_parameters',
        'per_request_limits',
      ]);
    }
  });

  it('answers 404 for unknown models and models without a provider', async () => {
    for (const id of ['openai/none', 'anthropic-x/none', 'local/unpriced', 'none']) {
      const { status, body } = await get(`/v1/models/${id}`);
      expect({ id, status }).toEqual({ id, status: 404 });
      expect(body).toMatchObject({ error: { type: 'not_found_error', param: 'id' } });
    }
  });

  it('lists embedding models, whose architecture is null', async () => {
    const { body } = await get<{ data: Listed[] }>('/v1/embeddings/models');
    const ids = body.data.map((model) => model.id);
    expect(ids).toEqual(expect.arrayContaining(['openai/text-embedding-3-small', 'sandbox/embed']));
    expect(body.data.filter((model) => model.architecture !== null)).toEqual([]);
  });

  it('lists providers by type; an unknown type has none', async () => {
    const { body } = await get<{ data: { id: string }[] }>('/v1/providers');
    expect(body.data.map((provider) => provider.id)).toEqual(['openai', 'local', 'sandbox']);
    expect(body.data[0]).toEqual({
      id: 'openai',
      name: 'OpenAI',
      type: 'openai',
      status: 'unknown',
      models_count: expect.any(Number) as unknown,
    });
    expect((await get<{ data: [] }>('/v1/providers?type=gcp')).body.data).toEqual([]);
    expect((await get<{ data: [] }>('/v1/providers?type=nonsense')).body.data).toEqual([]);
    expect(await get('/v1/providers?type=gcp&type=openai')).toMatchObject({
      status: 400,
      body: { error: { param: 'type' } },
    });
  });

  it('requires a key', async () => {
    for (const path of ['/v1/models', '/v1/providers', '/v1/embeddings/models']) {
      const response = await fetch(gateway.url + path);
      expect(response.status).toBe(401);
      await response.text();
    }
  });

  it('serves members of a family under their own names, at the price of the longest match', async () => {
    const ask = async (model: string): Promise<string | null> => {
      const response = await gateway.post('/v1/chat/completions', {
        model,
        messages: [{ role: 'user', content: 'Hi' }],
      });
      const body = (await response.json()) as { model: string };
      expect(body.model).toBe(model);
      return response.headers.get('x-gateway-cost');
    };
    fake.calls.length = 0;
    expect(await ask('local/fam:acme')).toBe(String(10 + 5));
    expect(await ask('local/fam:special-one')).toBe(String(5 * 15));
    expect(await ask('local/small')).toBe('0');
    expect(fake.calls.map((call) => call.body.model)).toEqual([
      'fam:acme',
      'fam:special-one',
      'small',
    ]);
  });

  it('rejects a model without a price, and one that is not for chat', async () => {
    const ask = (model: string): Promise<Response> =>
      gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });
    expect((await ask('local/unpriced')).status).toBe(404);
    const embedding = await ask('sandbox/embed');
    expect(embedding.status).toBe(400);
    expect(await embedding.json()).toMatchObject({ error: { param: 'model' } });
    const unconfigured = await ask('vertex/gemini-2.5-flash');
    expect(unconfigured.status).toBe(503);
    expect(await unconfigured.json()).toMatchObject({ error: { type: 'provider_unavailable' } });
  });
});
