import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { errorAnswer, sendJson, startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { respond } from '../support/fake-responses.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest } from '../support/logged-request.js';

const VENDOR = 'openai/gpt-4o-mini';
const ECHO = 'sandbox/echo';
import { until } from '../support/until.js';

describe('operations on a conversation besides an answer', () => {
  let fake: FakeOpenAi;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key',
      OPENAI_BASE_URL: fake.baseUrl,
      GATEWAY_COOLDOWN_MS: '1',
    });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  beforeEach(() => {
    fake.answer = respond();
    fake.calls.length = 0;
  });
  afterAll(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
    await fake.close();
  });

  describe('POST /v1/responses/input_tokens', () => {
    it('asks a vendor that counts, with only the input of the model', async () => {
      fake.answer = (_call, response) =>
        sendJson(response, 200, { object: 'response.input_tokens', input_tokens: 1234 });
      const { data, response } = await client.responses.inputTokens
        .count({ model: VENDOR, input: 'Hi', instructions: 'Be kind.' })
        .withResponse();
      expect(data).toEqual({ object: 'response.input_tokens', input_tokens: 1234 });
      expect(response.headers.get('x-gateway-provider')).toBe('openai');
      const [call] = fake.calls;
      expect(call?.path).toBe('/v1/responses/input_tokens');
      expect(call?.body).toEqual({
        model: 'gpt-4o-mini',
        input: 'Hi',
        instructions: 'Be kind.',
      });
    });

    it.each([
      ['a vendor without the endpoint', errorAnswer(404)],
      ['a vendor that returns nonsense', respond()],
    ])('counts locally for %s', async (_name, answer) => {
      fake.answer = answer;
      const count = async (): Promise<number> => {
        const input = 'The quick brown fox jumps over the lazy dog.';
        return (await client.responses.inputTokens.count({ model: VENDOR, input })).input_tokens;
      };
      // The gateway estimates until its tokenizer has loaded.
      await until(async () => (await count()) === 10 + 3);
    });

    it('includes stored turns, tools and images', async () => {
      const count = async (body: object): Promise<number> =>
        (await client.responses.inputTokens.count({ model: ECHO, input: 'Hi', ...body }))
          .input_tokens;
      const alone = await count({});
      const turn = await client.responses.create({ model: ECHO, input: 'a much longer story' });
      expect(await count({ previous_response_id: turn.id })).toBeGreaterThan(alone + 6);
      const tool = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false };
      expect(await count({ tools: [tool] })).toBeGreaterThan(alone + 2);
      const picture = { type: 'input_image', image_url: 'https://example.com/a.png' };
      const seen = await count({ input: [{ role: 'user', content: [picture] }] });
      expect(seen).toBeGreaterThan(alone + 100);
    });

    it.each([
      [{ input: undefined }, 400, 'input'],
      [{ model: 'nobody/nothing' }, 404, 'model'],
      [{ previous_response_id: 'resp_x' }, 404, 'previous_response_id'],
    ])('rejects %j', async (fields, status, param) => {
      const body = { model: ECHO, input: 'Hi', ...fields };
      const response = await gateway.post('/v1/responses/input_tokens', body);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: { param } });
    });
  });

  describe('POST /v1/responses/compact', () => {
    it('returns the user’s messages and a summary that only the gateway can read', async () => {
      fake.answer = respond({ text: 'They want a landing page.' });
      const { data, response } = await client.responses
        .compact({
          model: VENDOR,
          instructions: 'You build pages.',
          input: [
            { role: 'user', content: 'Make a landing page.' },
            { role: 'assistant', content: 'Here it is.' },
            { type: 'function_call', call_id: 'c', name: 'publish', arguments: '{"to":"web"}' },
            { type: 'function_call_output', call_id: 'c', output: 'published' },
          ],
        })
        .withResponse();
      expect(data).toMatchObject({
        id: expect.stringMatching(/^resp_/),
        object: 'response.compaction',
        created_at: expect.any(Number),
        output: [
          { type: 'message', role: 'user', status: 'completed', id: expect.any(String) },
          { type: 'compaction', id: expect.stringMatching(/^cmp_/) },
        ],
        usage: { input_tokens: 20, output_tokens: 6 },
      });
      expect(JSON.stringify(data)).not.toContain('They want');
      const sent = JSON.stringify(fake.calls[0]?.body.input);
      for (const text of ['You build pages.', 'Make a landing page.', 'publish', 'published']) {
        expect(sent).toContain(text);
      }
      expect(
        await loggedRequest(gateway.database, response.headers.get('x-request-id')),
      ).toMatchObject({ endpoint: 'responses', outcome: 'completed', usage_source: 'upstream' });

      // Another vendor continues from it.
      const next = await client.responses.create({
        model: ECHO,
        input: [...(data.output as OpenAI.Responses.ResponseInputItem[])],
      });
      expect(next.output_text).toContain('Make a landing page.');
      fake.calls.length = 0;
      await client.responses.create({
        model: VENDOR,
        input: [...(data.output as OpenAI.Responses.ResponseInputItem[])],
      });
      expect(JSON.stringify(fake.calls[0]?.body.input)).toContain('They want a landing page.');
    });

    it('compacts a stored conversation', async () => {
      const turn = await client.responses.create({ model: ECHO, input: 'Remember the number 77.' });
      fake.answer = respond({ text: '77' });
      const { output } = await client.responses.compact({
        model: VENDOR,
        previous_response_id: turn.id,
      });
      expect(output.map(({ type }) => type)).toEqual(['message', 'compaction']);
      expect(JSON.stringify(fake.calls[0]?.body.input)).toContain('Remember the number 77.');
    });

    it('rejects a compaction that was changed or truncated', async () => {
      const { output } = await client.responses.compact({ model: ECHO, input: 'Hello' });
      const { encrypted_content: signed } = output.at(-1) as { encrypted_content: string };
      const middle = Math.floor(signed.length / 2);
      const other = signed[middle] === 'A' ? 'B' : 'A';
      const changed = signed.slice(0, middle) + other + signed.slice(middle + 1);
      for (const encrypted_content of [changed, signed.slice(0, 20)]) {
        const input = [{ type: 'compaction', encrypted_content }];
        const response = await gateway.post('/v1/responses', { model: ECHO, input });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          error: { param: 'input.0.encrypted_content' },
        });
      }
    });

    it('rejects an empty request, and reports a vendor’s failure', async () => {
      const nothing = await gateway.post('/v1/responses/compact', { model: ECHO });
      expect(nothing.status).toBe(400);
      expect(await nothing.json()).toMatchObject({ error: { param: 'input' } });
      const silent = { type: 'message', id: 'm', status: 'completed', role: 'assistant' };
      fake.answer = respond({ output: [{ ...silent, content: [] }] });
      const empty = await gateway.post('/v1/responses/compact', { model: VENDOR, input: 'Hi' });
      expect(empty.status).toBe(502);
      fake.answer = errorAnswer(500);
      const failed = await gateway.post('/v1/responses/compact', { model: VENDOR, input: 'Hi' });
      expect(failed.status).toBe(502);
    });
  });
});
