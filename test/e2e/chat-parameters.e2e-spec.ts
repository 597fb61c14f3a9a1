import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { politeAnswer, startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

describe('a vendor of the same dialect', () => {
  let fake: FakeOpenAi;
  let gateway: BootedGateway;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    gateway = await bootGateway({ OPENAI_API_KEY: 'sk-vendor', OPENAI_BASE_URL: fake.baseUrl });
  });
  beforeEach(() => {
    fake.answer = politeAnswer();
    fake.calls.length = 0;
  });
  afterAll(async () => {
    await gateway.close();
    await fake.close();
  });

  const send = async (body: object): Promise<Record<string, unknown>> => {
    const response = await gateway.post('/v1/chat/completions', {
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi' }],
      ...body,
    });
    expect({ status: response.status, body: await response.text() }).toMatchObject({ status: 200 });
    return fake.calls.at(-1)!.body;
  };

  it('gets every parameter unchanged', async () => {
    const parameters = {
      temperature: 0.7,
      max_tokens: 100,
      max_completion_tokens: 90,
      top_p: 0.9,
      n: 2,
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_object' },
      logprobs: true,
      top_logprobs: 3,
      logit_bias: { '50256': -100 },
      stop: ['END', '\u0000'],
      frequency_penalty: 0.1,
      presence_penalty: -0.1,
      seed: 7,
      user: 'end-user',
      metadata: { a: 'b' },
      reasoning_effort: 'low',
      a_field_of_tomorrow: { nested: [1, 2.0, '…'] },
    };
    expect(await send(parameters)).toEqual({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi' }],
      ...parameters,
    });
  });

  it('gets images and the parts of a conversation unchanged', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: [{ type: 'text', text: 'And kind.' }] },
      {
        role: 'user',
        name: 'ada',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: PIXEL, detail: 'low' } },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
    ];
    expect((await send({ messages })).messages).toEqual(messages);
  });

  it('gets no fields of the gateway, and `reasoning` as its effort', async () => {
    const body = await send({
      models: ['openai/gpt-4.1-mini'],
      provider: { order: ['openai'], allow_fallbacks: true },
      route: 'fallback',
      trace: { trace_name: 'mine' },
      transforms: [],
      plugins: [],
      usage: { include: true },
      reasoning: { effort: 'high', max_tokens: 5 },
      store: true,
    });
    expect(body).toEqual({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi' }],
      reasoning_effort: 'high',
      store: false,
    });
  });

  it('gets Responses-style input as messages', async () => {
    const input = [
      { role: 'user', content: 'Weather?' },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
      { type: 'function_call_output', call_id: 'c2', output: 'cold' },
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ];
    const { messages } = await send({ messages: undefined, input });
    const call = (id: string, city: string): object => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: JSON.stringify({ city }) },
    });
    expect(messages).toEqual([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call('c1', 'Rome'), call('c2', 'Oslo')] },
      { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'c2', content: 'cold' },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
    ]);
    expect((await send({ messages: undefined, input: 'Just text' })).messages).toEqual([
      { role: 'user', content: 'Just text' },
    ]);
  });

  it('has dropped fields named', async () => {
    const response = await gateway.post('/v1/chat/completions', {
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi' }],
      reasoning: { effort: 'low', max_tokens: 10 },
    });
    expect(response.headers.get('x-gateway-dropped-params')).toBe('reasoning.max_tokens');
    await response.text();
  });

  it.each([
    ['service_tier', { service_tier: 'priority' }, 'service_tier'],
    [
      'web search without a price',
      { model: 'openai/gpt-4.1-nano', web_search_options: {} },
      'web_search_options',
    ],
    ['audio output', { modalities: ['text', 'audio'] }, 'modalities'],
    ['tools run by the vendor', { tools: [{ type: 'web_search' }] }, 'tools.0.type'],
    [
      'files of the vendor account',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
      'messages.0.content.0.file.file_id',
    ],
  ])('gets no %s on shared capacity', async (_name, body, param) => {
    const response = await gateway.post('/v1/chat/completions', {
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi' }],
      ...body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', param },
    });
    expect(fake.calls).toEqual([]);
  });
});
