import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  errorAnswer,
  politeAnswer,
  sendJson,
  startFakeOpenAi,
  type FakeOpenAi,
} from '../support/fake-openai.js';
import { respond, streamEvents, writeEvent } from '../support/fake-responses.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest } from '../support/logged-request.js';
import { writeOperatorFiles } from '../support/operator-files.js';

const MODEL = 'openai/gpt-4o-mini';

describe('POST /v1/responses with a vendor of the same dialect', () => {
  let fake: FakeOpenAi;
  let plain: FakeOpenAi;
  let gateway: BootedGateway;
  let client: OpenAI;
  let files: Awaited<ReturnType<typeof writeOperatorFiles>>;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    plain = await startFakeOpenAi();
    files = await writeOperatorFiles({ plain: plain.baseUrl }, [
      { id: 'plain/a', pricing: { prompt: '0.000001', completion: '0.000002' } },
    ]);
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key',
      OPENAI_BASE_URL: fake.baseUrl,
      GATEWAY_COOLDOWN_MS: '1',
      ...files.environment,
    });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  beforeEach(() => {
    fake.answer = respond();
    plain.answer = politeAnswer();
    fake.calls.length = 0;
    plain.calls.length = 0;
  });
  afterAll(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
    await fake.close();
    await plain.close();
    await files.remove();
  });

  it('relays a whole answer under our id and name, and charges the vendor’s usage', async () => {
    const { data: response, response: http } = await client.responses
      .create({ model: MODEL, input: 'Hi', metadata: { k: 'v' }, temperature: 0.5 })
      .withResponse();
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{48}$/),
      model: MODEL,
      output_text: 'Hello from the fake.',
      metadata: { k: 'v' },
      store: true,
      usage: { input_tokens: 20, output_tokens: 6 },
    });
    const [call] = fake.calls;
    expect(call?.path).toBe('/v1/responses');
    expect(call?.headers.authorization).toBe('Bearer sk-vendor-key');
    expect(call?.body).toEqual({
      model: 'gpt-4o-mini',
      input: 'Hi',
      temperature: 0.5,
      store: false,
    });
    expect(await client.responses.retrieve(response.id)).toEqual(response);
    expect(await loggedRequest(gateway.database, http.headers.get('x-request-id'))).toMatchObject({
      endpoint: 'responses',
      outcome: 'completed',
      finish_reason: 'stop',
      prompt_tokens: 20,
      completion_tokens: 6,
      cache_read_tokens: 4,
      reasoning_tokens: 2,
      usage_source: 'upstream',
    });
  });

  it('relays a stream that the helper reads, and stores it', async () => {
    fake.answer = respond({ text: 'Grüße 👋 an alle', chunkDelayMs: 2 });
    const runner = client.responses.stream({ model: MODEL, input: 'Hi' });
    let text = '';
    runner.on('response.output_text.delta', ({ delta }) => (text += delta));
    const final = await runner.finalResponse();
    expect(text).toBe('Grüße 👋 an alle');
    expect(final).toMatchObject({ status: 'completed', output_text: text, model: MODEL });
    expect(await client.responses.retrieve(final.id)).toMatchObject({
      id: final.id,
      output_text: text,
      usage: final.usage,
      store: true,
    });
  });

  it('charges a stream and a whole answer alike', async () => {
    const costs: number[] = [];
    for (const stream of [true, false]) {
      const answer = await gateway.post('/v1/responses', { model: MODEL, input: 'Hi', stream });
      await answer.text();
      const row = await loggedRequest(gateway.database, answer.headers.get('x-request-id'));
      costs.push(row.cost);
    }
    expect(costs[0]).toBe(costs[1]);
    expect(costs[0]).toBeGreaterThan(0);
  });

  it('sends the whole conversation, including answers of other vendors', async () => {
    const first = await client.responses.create({ model: 'sandbox/echo', input: 'one' });
    const second = await client.responses.create({
      model: MODEL,
      input: 'two',
      previous_response_id: first.id,
    });
    const third = await client.responses.create({
      model: MODEL,
      input: [{ role: 'user', content: 'three' }],
      previous_response_id: second.id,
    });
    expect(third.previous_response_id).toBe(second.id);
    const sent = fake.calls[1]!.body;
    expect(sent).not.toHaveProperty('previous_response_id');
    expect(sent.store).toBe(false);
    expect(sent.input).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: [{ text: 'Sandbox echo: one' }] },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: [{ text: 'Hello from the fake.' }] },
      { role: 'user', content: 'three' },
    ]);
    for (const item of sent.input as object[]) expect(item).not.toHaveProperty('id');
    // And back again.
    const fourth = await client.responses.create({
      model: 'sandbox/echo',
      input: 'four',
      previous_response_id: third.id,
    });
    expect(fourth.usage?.input_tokens).toBe(1 + 3 + 1 + 4 + 1 + 4 + 1);
  });

  it('returns signed reasoning to the vendor', async () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
    const message = {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
    };
    fake.answer = respond({ output: [reasoning, message] });
    const effort = { reasoning: { effort: 'low' as const } };
    const first = await client.responses.create({ model: MODEL, input: 'Hm?', ...effort });
    expect(fake.calls[0]?.body.include).toEqual(['reasoning.encrypted_content']);
    await client.responses.create({
      model: MODEL,
      input: 'And?',
      previous_response_id: first.id,
      ...effort,
    });
    expect(fake.calls[1]?.body.input).toMatchObject([
      { role: 'user' },
      { type: 'reasoning', encrypted_content: 'gAAA' },
      { role: 'assistant' },
      { role: 'user' },
    ]);
  });

  it('falls back to the next model when the stream fails after response.created', async () => {
    fake.answer = (call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of streamEvents(call).slice(0, 4)) writeEvent(response, event);
      writeEvent(response, {
        type: 'response.failed',
        sequence_number: 4,
        response: { status: 'failed', error: { code: 'server_error', message: 'Sorry.' } },
      });
      response.end();
    };
    const body = { model: MODEL, input: 'Hi there', models: ['sandbox/echo'] };
    const final = await client.responses.stream(body).finalResponse();
    expect(final).toMatchObject({ model: 'sandbox/echo', output_text: 'Sandbox echo: Hi there' });
  });

  it('reports an interrupted stream as failed, with continued numbering', async () => {
    fake.answer = (call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of streamEvents(call).slice(0, 6)) writeEvent(response, event);
      setTimeout(() => response.destroy(), 20);
    };
    const stream = await client.responses.create({ model: MODEL, input: 'Hi', stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const readAll = async (): Promise<void> => {
      for await (const event of stream) events.push(event);
    };
    await expect(readAll()).rejects.toThrow('terminated');
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      sequence_number: 6,
      response: { status: 'failed', error: { code: 'server_error' } },
    });
    const { id } = (events.at(-1) as OpenAI.Responses.ResponseFailedEvent).response;
    expect(events[0]).toMatchObject({ response: { id } });
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'failed' });
  });

  it('passes on the vendor’s refusal', async () => {
    fake.answer = errorAnswer(400, {
      message: 'Unsupported value.',
      type: 'invalid_request_error',
      param: 'temperature',
      code: 'unsupported_value',
    });
    await expect(client.responses.create({ model: MODEL, input: 'Hi' })).rejects.toMatchObject({
      status: 400,
      param: 'temperature',
    });
  });

  it('uses chat completions with a server that has nothing else', async () => {
    const response = await client.responses.create({
      model: 'plain/a',
      input: 'Hi',
      instructions: 'Be kind.',
    });
    expect(response.output_text).toBe('Hello from the fake.');
    expect(plain.calls).toHaveLength(1);
    expect(plain.calls[0]).toMatchObject({ path: '/v1/chat/completions' });
    expect(plain.calls[0]?.body.messages).toHaveLength(2);
    const streamed = await client.responses
      .stream({ model: 'plain/a', input: 'Hi', previous_response_id: response.id })
      .finalResponse();
    expect(streamed.output_text).toBe('Hello from the fake.');
    expect(plain.calls[1]?.body.messages).toHaveLength(3);
  });

  it('detects a server under the vendor’s name that only supports chat completions', async () => {
    fake.answer = async (call, response) => {
      if (call.path.endsWith('/chat/completions')) await politeAnswer()(call, response);
      else sendJson(response, 404, { error: { message: 'Not found', param: null, code: null } });
    };
    for (let turn = 0; turn < 2; turn++) {
      const response = await client.responses.create({ model: MODEL, input: 'Hi' });
      expect(response.output_text).toBe('Hello from the fake.');
    }
    expect(fake.calls.map(({ path }) => path)).toEqual([
      '/v1/responses',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ]);
  });
});
