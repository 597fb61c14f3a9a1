import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import OpenAI from 'openai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

const MODEL = 'sandbox/echo';
const messages = [{ role: 'user' as const, content: 'one two' }];
const SAID = 'Sandbox echo: one two';

describe('clients with the base URL {base}/api/v1', () => {
  let gateway: BootedGateway;
  let client: OpenRouter;
  let manager: OpenRouter;
  let openAi: OpenAI;

  beforeAll(async () => {
    gateway = await bootGateway();
    const serverURL = `${gateway.url}/api/v1`;
    client = new OpenRouter({ apiKey: gateway.apiKey, serverURL });
    manager = new OpenRouter({ apiKey: gateway.managementKey, serverURL });
    openAi = new OpenAI({ apiKey: gateway.apiKey, baseURL: serverURL, maxRetries: 0 });
  });
  afterAll(() => gateway.close());

  /** Sends a request to its end and returns its id. */
  async function askedId(): Promise<string> {
    const answer = await gateway.post('/api/v1/chat/completions', { model: MODEL, messages });
    await answer.text();
    return answer.headers.get('x-request-id')!;
  }

  describe('as @openrouter/sdk', () => {
    it('read an answer, whole and streamed', async () => {
      const whole = await client.chat.send({
        chatRequest: { model: MODEL, messages, stream: false },
      });
      if (!('choices' in whole)) throw new Error('a stream');
      expect(whole.choices[0]!.message.content).toBe(SAID);
      expect(whole.usage).toMatchObject({ promptTokens: 2, completionTokens: 4 });
      const stream = await client.chat.send({
        chatRequest: { model: MODEL, messages, stream: true },
      });
      if ('choices' in stream) throw new Error('no stream');
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      expect(text).toBe(SAID);
    });

    it('read every model, including those for embeddings', async () => {
      const { result } = await client.models.list();
      const byId = new Map(result.data.map((model) => [model.id, model]));
      expect(byId.get(MODEL)).toMatchObject({ canonicalSlug: MODEL, perRequestLimits: null });
      expect(byId.get('sandbox/embed')?.architecture.outputModalities).toEqual(['embeddings']);
      expect(result.totalCount).toBe(result.data.length);
      const embedders = await client.embeddings.listModels();
      expect(embedders.result.data.map(({ id }) => id)).toEqual(['sandbox/embed']);
    });

    it('read and sort the endpoints of a model', async () => {
      const [author = '', slug = ''] = MODEL.split('/');
      const { data } = await client.endpoints.list({ author, slug });
      expect(data).toMatchObject({ id: MODEL, endpoints: [{ tag: 'sandbox', status: 0 }] });
      const answer = await client.chat.send({
        chatRequest: {
          model: MODEL,
          messages: [{ role: 'user', content: 'Hi' }],
          provider: {
            sort: { by: 'throughput', partition: 'none' },
            maxPrice: { prompt: '1000', completion: '1000' },
          },
        },
      });
      expect(answer).toMatchObject({ model: MODEL });
    });

    it('read vectors', async () => {
      const request = { requestBody: { model: 'sandbox/embed', input: 'text' } };
      expect(await client.embeddings.generate(request)).toMatchObject({ model: 'sandbox/embed' });
    });

    it('read the credits with a management key, and the refusal without', async () => {
      const { data } = await manager.credits.getCredits();
      expect(data.totalCredits).toBe(10_000_000);
      expect(data.totalUsage).toBeGreaterThan(0);
      await expect(client.credits.getCredits()).rejects.toMatchObject({ statusCode: 403 });
    });

    it('read their key', async () => {
      await askedId();
      const { data } = await client.apiKeys.getCurrentKeyMetadata();
      expect(data).toMatchObject({ isManagementKey: false, limit: null, limitReset: null });
      expect(data.usage).toBeGreaterThan(0);
      for (const usage of [data.usageDaily, data.usageWeekly, data.usageMonthly]) {
        expect(usage).toBeGreaterThan(0);
        expect(usage).toBeLessThanOrEqual(data.usage);
      }
      const managed = await manager.apiKeys.getCurrentKeyMetadata();
      expect(managed.data).toMatchObject({ isManagementKey: true, usage: 0, usageDaily: 0 });
    });

    it('look up a request', async () => {
      const id = await askedId();
      expect(await client.generations.getGeneration({ id })).toMatchObject({
        data: { id, model: MODEL, totalCost: 10, isByok: false, apiType: 'completions' },
      });
    });
  });

  describe('as openai', () => {
    it('read an answer, whole and streamed', async () => {
      const whole = await openAi.chat.completions.create({ model: MODEL, messages });
      expect(whole.choices[0]!.message.content).toBe(SAID);
      const stream = openAi.chat.completions.stream({
        model: MODEL,
        messages,
        stream_options: { include_usage: true },
      });
      expect(await stream.finalContent()).toBe(SAID);
      expect((await stream.totalUsage()).total_tokens).toBe(6);
    });

    it('list models and get one', async () => {
      const ids: string[] = [];
      for await (const { id } of openAi.models.list()) ids.push(id);
      expect(ids).toContain(MODEL);
      expect(await openAi.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model' });
    });

    it('read credits, key and generation at their paths', async () => {
      const id = await askedId();
      expect(await openAi.get(`/generation?id=${id}`)).toMatchObject({ data: { id } });
      expect(await openAi.get('/key')).toMatchObject({ data: { limit: null } });
      await expect(openAi.get('/credits')).rejects.toMatchObject({ status: 403 });
      const manager = openAi.withOptions({ apiKey: gateway.managementKey });
      expect(await manager.get('/credits')).toMatchObject({ data: { total_credits: 10_000_000 } });
    });
  });
});
