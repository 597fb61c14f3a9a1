import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { awaitRoomInThisMinute } from '../support/room-in-minute.js';
import { until } from '../support/until.js';

const ORIGIN = 'https://app.example';
const HELLO = [{ role: 'user' as const, content: 'Hello' }];

let gateway: BootedGateway;
beforeAll(async () => {
  gateway = await bootGateway({ GATEWAY_CORS_ORIGINS: `${ORIGIN}, http://localhost:5173` });
});
afterAll(() => gateway.close());

describe('the AzureOpenAI class of the openai package', () => {
  const clientOf = (options: { deployment?: string; apiKey?: string } = {}): AzureOpenAI =>
    new AzureOpenAI({
      endpoint: gateway.url,
      apiKey: gateway.apiKey,
      apiVersion: '2024-10-21',
      maxRetries: 0,
      ...options,
    });

  it('gets answers with the model in the body or in the path, whole and streamed', async () => {
    const client = clientOf();
    const whole = await client.chat.completions.create({ model: 'sandbox/echo', messages: HELLO });
    expect(whole.choices[0]?.message.content).toBe('Sandbox echo: Hello');
    const stream = await clientOf({ deployment: 'sandbox/echo' }).chat.completions.create({
      model: 'some-name',
      messages: HELLO,
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) {
      expect(chunk.model).toBe('sandbox/echo');
      text += chunk.choices[0]?.delta.content ?? '';
    }
    expect(text).toBe('Sandbox echo: Hello');
  });

  it('embeds, speaks, transcribes, creates images and lists models', async () => {
    const client = clientOf();
    const embedded = await client.embeddings.create({ model: 'sandbox/embed', input: 'Hello' });
    expect(embedded.data).toHaveLength(1);
    const speech = await client.audio.speech.create({
      model: 'sandbox/speech',
      input: 'Hello!',
      voice: 'alloy',
      response_format: 'wav',
    });
    const file = await toFile(Buffer.from(await speech.arrayBuffer()), 'speech.wav');
    const transcript = await clientOf({
      deployment: 'sandbox/transcribe',
    }).audio.transcriptions.create({ model: 'some-name', file });
    expect(typeof transcript.text).toBe('string');
    const pictures = await client.images.generate({ model: 'sandbox/image', prompt: 'A boat' });
    expect(pictures.data).toHaveLength(1);
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toContain('sandbox/echo');
  });

  it('stores responses, and reads them with a version in the query', async () => {
    const client = clientOf();
    const made = await client.responses.create({ model: 'sandbox/echo', input: 'Hello' });
    const read = await client.responses.retrieve(made.id);
    expect(read.output_text).toBe('Sandbox echo: Hello');
    await client.responses.delete(made.id);
  });

  it('throws for a wrong key, and for an unknown model', async () => {
    const ask = (client: AzureOpenAI, model: string): Promise<unknown> =>
      client.chat.completions.create({ model, messages: HELLO });
    await expect(ask(clientOf({ apiKey: 'sk-unknown' }), 'sandbox/echo')).rejects.toMatchObject({
      status: 401,
    });
    await expect(ask(clientOf(), 'sandbox/none')).rejects.toMatchObject({
      status: 404,
      param: 'model',
    });
  });

  it.each(['sandbox%2Fecho', 'sandbox/echo'])('is counted and charged for %s', async (name) => {
    const response = await fetch(
      `${gateway.url}/openai/deployments/${name}/chat/completions?api-version=2024-10-21`,
      {
        method: 'POST',
        headers: { 'api-key': gateway.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: HELLO }),
      },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('x-ratelimit-limit')).toBe('100000');
    expect(Number(response.headers.get('x-gateway-cost'))).toBeGreaterThan(0);
    await response.text();
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });

  it('may use the variant without versions, and no unknown paths', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/openai/v1`, apiKey: gateway.apiKey });
    const answer = await client.chat.completions.create({ model: 'sandbox/echo', messages: HELLO });
    expect(answer.model).toBe('sandbox/echo');
    for (const path of [
      '/openai/deployments/x/unknown',
      '/openai/deployments/%E0/embeddings',
      '/openai/v1/customer/api-keys',
      '/openai/v1/../customer/api-keys',
      '/openai/v1',
    ]) {
      const unknown = await gateway.post(path, {});
      expect([path, unknown.status]).toEqual([path, 404]);
      await unknown.text();
    }
  });
});

describe('client.completions of the openai package', () => {
  it('completes a text through the chat path, whole and streamed', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey });
    const ask = { model: 'sandbox/echo', prompt: 'Hello', max_tokens: 100 };
    const whole = await client.completions.create(ask);
    expect(whole).toMatchObject({ object: 'text_completion', model: 'sandbox/echo' });
    expect(whole.choices).toEqual([
      { index: 0, text: 'Sandbox echo: Hello', logprobs: null, finish_reason: 'stop' },
    ]);
    expect(whole.usage?.total_tokens).toBeGreaterThan(0);
    const stream = await client.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let total = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? '';
      total += chunk.usage?.total_tokens ?? 0;
    }
    expect([text, total]).toEqual(['Sandbox echo: Hello', whole.usage?.total_tokens]);
    await expect(client.completions.create({ ...ask, suffix: 'end' })).rejects.toMatchObject({
      status: 400,
      param: 'suffix',
    });
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });
});

describe('client.videos of the openai package', () => {
  it('creates, lists, reads and deletes videos', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey });
    const made: string[] = [];
    for (const prompt of ['A boat', 'A lighthouse']) {
      const video = await client.videos.create({
        model: 'sandbox/video',
        prompt,
        seconds: '4',
      });
      expect(video).toMatchObject({ object: 'video', prompt, seconds: '4', error: null });
      expect(['queued', 'in_progress', 'completed']).toContain(video.status);
      made.unshift(video.id);
    }
    const [newest, oldest] = made as [string, string];
    const listed: string[] = [];
    for await (const { id } of client.videos.list({ limit: 1 })) listed.push(id);
    expect(listed).toEqual(made);
    const first = await client.videos.list({ order: 'asc', limit: 1 });
    expect(first).toMatchObject({ has_more: true, data: [{ id: oldest }] });

    await until(async () => (await client.videos.retrieve(oldest)).status === 'completed');
    expect(await client.videos.retrieve(oldest)).toMatchObject({
      progress: 100,
      model: 'sandbox/video',
    });
    const content = await client.videos.downloadContent(oldest);
    expect(content.headers.get('content-type')).toMatch(/^video\//);
    expect((await content.arrayBuffer()).byteLength).toBeGreaterThan(100);
    await expect(
      client.videos.downloadContent(oldest, { variant: 'thumbnail' }),
    ).rejects.toMatchObject({ status: 400 });

    for (const id of made) {
      expect(await client.videos.delete(id)).toEqual({
        id,
        object: 'video.deleted',
        deleted: true,
      });
      await expect(client.videos.retrieve(id)).rejects.toMatchObject({ status: 404 });
      await expect(client.videos.downloadContent(id)).rejects.toMatchObject({ status: 404 });
    }
    await expect(client.videos.delete(newest)).rejects.toMatchObject({ status: 404 });
    expect((await client.videos.list()).data).toEqual([]);
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });

  it('leaves jobs of another origin in their own shape', async () => {
    const job = { model: 'sandbox/video', prompt: 'A boat', seconds: 1 };
    const { id } = (await (await gateway.post('/v1/jobs', job)).json()) as { id: string };
    const read = await gateway.fetch(`/v1/videos/${id}`);
    expect(await read.json()).toMatchObject({ id, object: 'video_job' });
    const list = await gateway.fetch('/v1/videos');
    expect(await list.json()).toMatchObject({ data: [], has_more: false });
  });

  it('rejects models that create no video', async () => {
    const bad = async (body: object): Promise<unknown> => {
      const response = await gateway.post('/v1/videos', { model: 'sandbox/video', ...body });
      return [
        response.status,
        ((await response.json()) as { error: { param: string } }).error.param,
      ];
    };
    expect(await bad({ prompt: 'A boat', model: 'sandbox/image' })).toEqual([400, 'model']);
    expect(await bad({})).toEqual([400, 'prompt']);
    expect(await bad({ prompt: 'A boat', seconds: '61' })).toEqual([400, 'seconds']);
    const form = new FormData();
    form.set('model', 'sandbox/video');
    form.set('prompt', 'A boat');
    form.set('input_reference', new Blob(['x']), 'a.png');
    const upload = await gateway.fetch('/v1/videos', { method: 'POST', body: form });
    expect(upload.status).toBe(400);
    expect(await upload.json()).toMatchObject({ error: { param: 'input_reference' } });
    const unready = await gateway.fetch(`/v1/videos/vid_${'0'.repeat(36)}/content`);
    expect(unready.status).toBe(404);
    await unready.text();
    const after = await gateway.fetch('/v1/videos?after=vid_none');
    expect(after.status).toBe(404);
    await after.text();
  });
});

describe('models for clients of the messages dialect', () => {
  const clientOf = (base: string): Anthropic =>
    new Anthropic({ baseURL: gateway.url + base, apiKey: gateway.apiKey, maxRetries: 0 });

  it.each(['/v1/anthropic', '/v1/vendora', '', '/api'])('are listed below %s', async (base) => {
    const client = clientOf(base);
    const ids: string[] = [];
    for await (const model of client.models.list({ limit: 2 })) ids.push(model.id);
    const all = await client.models.list({ limit: 1_000 });
    expect(all.has_more).toBe(false);
    expect(ids).toEqual(all.data.map(({ id }) => id));
    expect(ids).toContain('sandbox/echo');
    expect(ids).not.toContain('sandbox/embed');
    const model = await client.models.retrieve('sandbox/echo');
    expect(model).toMatchObject({ type: 'model', id: 'sandbox/echo' });
    expect(Number.isNaN(Date.parse(model.created_at))).toBe(false);
    expect(all.data.find(({ id }) => id === 'sandbox/echo')).toEqual(model);
  });

  it('are rejected in the dialect’s format', async () => {
    const client = clientOf('/v1/anthropic');
    await expect(client.models.retrieve('none')).rejects.toMatchObject({
      status: 404,
      error: { type: 'error', error: { type: 'not_found_error' } },
    });
    for (const query of [{ limit: 0 }, { limit: 1_001 }, { after_id: 'none' }]) {
      await expect(client.models.list(query)).rejects.toMatchObject({ status: 400 });
    }
    const other = new Anthropic({ baseURL: gateway.url, apiKey: 'sk-unknown', maxRetries: 0 });
    await expect(other.models.list()).rejects.toMatchObject({ status: 401 });
  });

  it('do not change the ordinary list, which is an object of type list', async () => {
    for (const path of ['/v1/models', '/api/v1/models', '/v1/embeddings/models']) {
      const headers = { authorization: '', 'x-api-key': gateway.apiKey };
      const response = await gateway.fetch(path, path.includes('emb') ? {} : { headers });
      const body = (await response.json()) as { object: string; data: { object: string }[] };
      expect(body).toMatchObject({ object: 'list' });
      expect(body.data[0]?.object).toBe('model');
    }
  });
});

describe('a client with a wrong base URL', () => {
  it.each([
    ['/chat/completions', '/v1/chat/completions'],
    ['/v1//chat/completions', '/v1/chat/completions'],
    ['/v1/v1/responses', '/v1/responses'],
    ['/v1/chat/completions/chat/completions', '/v1/chat/completions'],
    ['/anthropic/v1/messages', '/v1/anthropic/v1/messages'],
    ['/v1/anthropic/v1/v1/messages', '/v1/messages'],
  ])('suggests for %s the path %s', async (path, meant) => {
    const response = await gateway.post(path, { model: 'sandbox/echo', messages: HELLO });
    const { error } = (await response.json()) as { error: { message: string } };
    expect([response.status, error.message]).toEqual([
      404,
      `There is no POST ${path}. Did you mean ${meant}? Check the client's base URL.`,
    ]);
  });

  it('suggests nothing for other unknown paths', async () => {
    for (const path of ['/v1/files', `/v1${'/v1'.repeat(99)}/responses`]) {
      const { error } = (await (await gateway.post(path, {})).json()) as {
        error: { message: string };
      };
      expect(error.message).toMatch(/See \/docs\.$/);
    }
  });
});

describe('HEAD', () => {
  it.each(['/', '/healthz', '/readyz', '/v1/models', '/v1/models/sandbox/echo', '/metrics'])(
    'answers on %s like GET, without a body',
    async (path) => {
      const [get, head] = await Promise.all([
        gateway.fetch(path),
        gateway.fetch(path, { method: 'HEAD' }),
      ]);
      expect([head.status, head.headers.get('content-type')]).toEqual([
        get.status,
        get.headers.get('content-type'),
      ]);
      expect(await head.text()).toBe('');
      expect(await get.text()).not.toBe('');
    },
  );

  it('needs the same key as GET, and exists only where GET does', async () => {
    const unknown = await fetch(`${gateway.url}/v1/models`, { method: 'HEAD' });
    expect(unknown.status).toBe(401);
    const wrong = await gateway.fetch('/v1/chat/completions', { method: 'HEAD' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    const posted = await gateway.post('/v1/models', {});
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    await posted.text();
  });
});

describe('GET /', () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';

  it('redirects browsers to the console, and shows others the links', async () => {
    const page = await fetch(gateway.url, { headers: { accept }, redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([302, '/console']);
    const response = await fetch(gateway.url);
    expect(response.status).toBe(200);
    expect(response.headers.get('vary')).toContain('Accept');
    const links = (await response.json()) as Record<string, string>;
    for (const link of Object.values(links).filter((value) => value.startsWith('/'))) {
      const linked = await gateway.fetch(link);
      // The console may still be building.
      const status = link === '/console' ? (linked.status === 503 ? 503 : 200) : 200;
      expect([link, linked.status]).toEqual([link, status]);
      await linked.text();
    }
  });

  it('redirects to the documentation when the console is off', async () => {
    const without = await bootGateway({ GATEWAY_CONSOLE: 'off' });
    const page = await fetch(without.url, { headers: { accept }, redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([302, '/docs']);
    expect(await (await fetch(without.url)).json()).not.toHaveProperty('console');
    const pages = ['/console', '/console/requests', '/console/assets/main.js'];
    const answers = await Promise.all(pages.map((path) => without.fetch(path)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    await without.close();
  });
});

describe('CORS', () => {
  const preflight = (url: string, origin: string): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-os',
      },
    });

  it('allows pages of configured origins, with preflight requests without a key', async () => {
    const answer = await preflight(gateway.url, ORIGIN);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(answer.headers.get('access-control-allow-methods')).toContain('POST');
    expect(answer.headers.get('access-control-allow-headers')).toContain('x-stainless-os');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    const body = { model: 'sandbox/echo', messages: HELLO };
    for (const stream of [false, true]) {
      const path = '/v1/chat/completions';
      const answer = await gateway.post(path, { ...body, stream }, { origin: ORIGIN });
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(answer.headers.get('vary')).toContain('Origin');
      const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase();
      for (const name of ['x-request-id', 'x-ratelimit-remaining', 'retry-after']) {
        expect(exposed).toContain(name);
      }
      await answer.text();
    }
    const refused = await fetch(`${gateway.url}/v1/models`, { headers: { origin: ORIGIN } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  });

  it('allows no other page', async () => {
    const answer = await preflight(gateway.url, 'https://evil.example');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('is off by default, and allows all pages if configured', async () => {
    for (const [origins, allowed] of [
      ['', null],
      ['*', '*'],
    ] as const) {
      const other = await bootGateway({ GATEWAY_CORS_ORIGINS: origins });
      try {
        const answer = await preflight(other.url, ORIGIN);
        expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
        if (origins === '') expect(answer.status).toBe(405);
      } finally {
        await other.close();
      }
    }
  });
});

describe('the limits on callers', () => {
  it('also count requests without a valid key by address on these paths', async () => {
    const paths = [
      '/openai/v1/models',
      '/openai/deployments/sandbox/echo/chat/completions',
      '/v1/anthropic/v1/models',
      '/v1/completions',
      '/v1/videos',
    ];
    const statusOf = async (path: string): Promise<number> => {
      const method = path.endsWith('models') ? 'GET' : 'POST';
      const response = await fetch(gateway.url + path, { method, headers: { 'api-key': 'sk-x' } });
      await response.text();
      return response.status;
    };
    await awaitRoomInThisMinute();
    for (let index = 0; index < 100; index++) await statusOf(paths[index % paths.length]!);
    const statuses = await Promise.all(paths.map(statusOf));
    expect(statuses).toEqual(paths.map(() => 429));
    const right = await gateway.fetch('/v1/models');
    expect(right.status).toBe(200);
    await right.text();
  });
});
