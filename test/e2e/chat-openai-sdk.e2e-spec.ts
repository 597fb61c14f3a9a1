import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  errorAnswer,
  politeAnswer,
  startFakeOpenAi,
  type FakeOpenAi,
} from '../support/fake-openai.js';

describe('the official openai package against POST /v1/chat/completions', () => {
  let fake: FakeOpenAi;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    gateway = await bootGateway({ OPENAI_API_KEY: 'sk-vendor-key', OPENAI_BASE_URL: fake.baseUrl });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  beforeEach(() => {
    fake.answer = politeAnswer();
    fake.calls.length = 0;
  });
  afterAll(async () => {
    await gateway.close();
    await fake.close();
  });

  it('gets a completion; the vendor gets its own model id, key and body', async () => {
    const completion = await client.chat.completions.create({
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hello! 你好 👋' }],
      temperature: 0.5,
      user: 'end-user-1',
    });
    expect(completion.choices[0]?.message.content).toBe('Hello from the fake.');
    expect(completion.model).toBe('openai/gpt-4o-mini');
    expect(completion.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });

    const [call] = fake.calls;
    expect(call?.path).toBe('/v1/chat/completions');
    expect(call?.headers.authorization).toBe('Bearer sk-vendor-key');
    expect(call?.body).toEqual({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hello! 你好 👋' }],
      temperature: 0.5,
      user: 'end-user-1',
    });
  });

  it('streams; callers get the usage chunk on request, and the vendor is always asked for it', async () => {
    fake.answer = politeAnswer({ text: 'One two three 👋' });
    const read = async (include: boolean): Promise<{ text: string; usages: unknown[] }> => {
      const stream = await client.chat.completions.create({
        model: 'openai/gpt-4o-mini',
        messages: [{ role: 'user', content: 'Count.' }],
        stream: true,
        ...(include && { stream_options: { include_usage: true } }),
      });
      let text = '';
      const usages: unknown[] = [];
      for await (const chunk of stream) {
        expect(chunk.model).toBe('openai/gpt-4o-mini');
        expect(chunk.object).toBe('chat.completion.chunk');
        text += chunk.choices[0]?.delta.content ?? '';
        if ('usage' in chunk && chunk.usage) usages.push(chunk.usage);
        if (!include) expect(chunk).not.toHaveProperty('usage');
      }
      return { text, usages };
    };
    expect(await read(false)).toEqual({ text: 'One two three 👋', usages: [] });
    const withUsage = await read(true);
    expect(withUsage.text).toBe('One two three 👋');
    expect(withUsage.usages).toHaveLength(1);
    for (const call of fake.calls) {
      expect(call.body.stream_options).toEqual({ include_usage: true });
    }
  });

  it('takes parallel tool calls through a round trip', async () => {
    const toolCalls = [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Rome"}' },
      },
      {
        id: 'call_2',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Oslo"}' },
      },
    ];
    fake.answer = politeAnswer({
      message: { content: null, tool_calls: toolCalls },
      finishReason: 'tool_calls',
    });
    const tools: OpenAI.Chat.ChatCompletionTool[] = [
      {
        type: 'function',
        function: {
          name: 'weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    ];
    const first = await client.chat.completions.create({
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Weather?' }],
      tools,
      tool_choice: 'auto',
    });
    const message = first.choices[0]!.message;
    expect(message.tool_calls).toEqual(toolCalls);

    fake.answer = politeAnswer({ text: 'Sunny and cold.' });
    const second = await client.chat.completions.create({
      model: 'openai/gpt-4o-mini',
      messages: [
        { role: 'user', content: 'Weather?' },
        message,
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
        { role: 'tool', tool_call_id: 'call_2', content: 'cold' },
      ],
      tools,
    });
    expect(second.choices[0]?.message.content).toBe('Sunny and cold.');
    expect(fake.calls[1]?.body.messages).toHaveLength(4);
    expect(fake.calls[1]?.body.tools).toEqual(tools);
  });

  it('assembles streamed tool calls with the SDK helper', async () => {
    const toolCalls = [
      {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Rome"}' },
      },
    ];
    fake.answer = politeAnswer({
      text: '',
      message: { tool_calls: toolCalls },
      finishReason: 'tool_calls',
    });
    const runner = client.chat.completions.stream({
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Weather?' }],
      tools: [{ type: 'function', function: { name: 'weather', parameters: {} } }],
    });
    const completion = await runner.finalChatCompletion();
    expect(completion.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      id: 'call_1',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    });
  });

  it('parses structured output, and the vendor gets the schema unchanged', async () => {
    fake.answer = politeAnswer({ text: '{"name":"Ada","age":36}' });
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    };
    const format = {
      type: 'json_schema',
      json_schema: { name: 'person', strict: true, schema },
    } as const;
    const completion = await client.chat.completions.parse({
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Who?' }],
      response_format: format,
    });
    expect(JSON.parse(completion.choices[0]!.message.content!)).toEqual({ name: 'Ada', age: 36 });
    expect(fake.calls[0]?.body.response_format).toEqual(format);
  });

  it('maps our errors to its own error classes', async () => {
    const call = (model: string, key = gateway.apiKey): Promise<unknown> =>
      new OpenAI({
        baseURL: `${gateway.url}/v1`,
        apiKey: key,
        maxRetries: 0,
      }).chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Hello' }],
      });
    await expect(call('gpt-4o-mini')).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(call('openai/gpt-4o-mini', 'sk-unknown-key-0000')).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    await expect(call('openai/gpt-4o-mini', gateway.managementKey)).rejects.toBeInstanceOf(
      OpenAI.PermissionDeniedError,
    );
    await expect(call('openai/no-such-model')).rejects.toBeInstanceOf(OpenAI.NotFoundError);

    fake.answer = errorAnswer(500);
    await expect(call('openai/gpt-4o-mini')).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    fake.answer = errorAnswer(400, {
      message: 'temperature must be below 2',
      type: 'invalid_request_error',
      param: 'temperature',
      code: null,
    });
    const refusal: unknown = await call('openai/gpt-4o-mini').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refusal).toMatchObject({ status: 400, param: 'temperature' });
    expect((refusal as InstanceType<typeof OpenAI.APIError>).requestID).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('throws on an interrupted stream, and never reports it as complete', async () => {
    fake.answer = (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Half an"},"finish_reason":null}]}\n\n',
      );
      setTimeout(() => response.destroy(), 50);
    };
    const stream = await client.chat.completions.create({
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
    });
    let text = '';
    await expect(
      (async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      })(),
    ).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(text).toBe('Half an');
  });
});
