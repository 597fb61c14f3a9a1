import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';

const MODEL = 'sandbox/echo';
const WEATHER: Anthropic.Tool = {
  name: 'weather',
  description: 'Weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('the official @anthropic-ai/sdk package against POST /v1/anthropic/v1/messages', () => {
  let gateway: BootedGateway;
  let client: Anthropic;

  beforeAll(async () => {
    gateway = await bootGateway();
    client = clientWith(gateway.apiKey);
  });
  afterEach(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });
  afterAll(() => gateway.close());

  const clientWith = (apiKey: string, path = '/v1/anthropic'): Anthropic =>
    new Anthropic({ baseURL: gateway.url + path, apiKey, authToken: null, maxRetries: 0 });
  const ask = (fields: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
    model: MODEL,
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: 'Hello 你好 👋' }],
    ...fields,
  });
  const keyWith = async (fields: object): Promise<string> => {
    const answer = await gateway.post('/v1/customer/api-keys', { name: 'x', ...fields });
    return ((await answer.json()) as { key: string }).key;
  };

  it('gets a message', async () => {
    const { data, response, request_id } = await client.messages.create(ask()).withResponse();
    expect(data).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/) as unknown,
      type: 'message',
      role: 'assistant',
      model: MODEL,
      content: [{ type: 'text', text: 'Sandbox echo: Hello 你好 👋' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 3,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 5,
      },
    });
    expect(request_id).toBe(response.headers.get('x-request-id'));
    expect(response.headers.get('x-ratelimit-limit')).toBe('100000');
    expect(response.headers.get('x-cache')).toBe('MISS');
    expect(response.headers.get('x-gateway-provider')).toBe('sandbox');
    expect(response.headers.get('x-gateway-cost')).toBe('13');
  });

  it.each(['/v1/anthropic', '/v1/vendora', '/api/v1/anthropic', '/api/v1/vendora', '', '/api'])(
    'is answered at the base URL %j',
    async (path) => {
      const message = await clientWith(gateway.apiKey, path).messages.create(ask());
      expect(message.content).toHaveLength(1);
    },
  );

  it('streams with its helper, with the same result as without', async () => {
    const params = ask({
      model: 'sandbox/words',
      messages: [{ role: 'user', content: '30 words' }],
    });
    const whole = await client.messages.create(params);
    const stream = client.messages.stream(params);
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    const streamed = await stream.finalMessage();
    expect(texts.length).toBe(30);
    expect(texts.join('')).toBe(await stream.finalText());
    const { id: _id, ...rest } = whole;
    expect(streamed).toMatchObject(rest);
    expect(streamed.id).not.toBe(whole.id);
  });

  it('streams raw events in the interface’s order', async () => {
    const types: string[] = [];
    for await (const event of await client.messages.create({ ...ask(), stream: true })) {
      if (types.at(-1) !== event.type) types.push(event.type);
    }
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it.each([true, false])('supports a tool round trip (stream: %s)', async (isStream) => {
    const send = (params: Anthropic.MessageCreateParamsNonStreaming): Promise<Anthropic.Message> =>
      isStream ? client.messages.stream(params).finalMessage() : client.messages.create(params);
    const question: Anthropic.MessageParam = { role: 'user', content: 'Weather in Rome?' };
    const first = await send(ask({ messages: [question], tools: [WEATHER] }));
    expect(first.stop_reason).toBe('tool_use');
    const [call] = first.content;
    expect(call).toEqual({
      type: 'tool_use',
      id: expect.any(String) as unknown,
      name: 'weather',
      input: { city: expect.any(String) as unknown },
    });
    const result: Anthropic.ToolResultBlockParam = {
      type: 'tool_result',
      tool_use_id: (call as Anthropic.ToolUseBlock).id,
      content: [{ type: 'text', text: 'Sunny' }],
    };
    const second = await send(
      ask({
        tools: [WEATHER],
        messages: [
          question,
          { role: 'assistant', content: first.content },
          { role: 'user', content: [result] },
        ],
      }),
    );
    expect(second.content).toEqual([{ type: 'text', text: 'Sandbox echo: Sunny' }]);
    expect(second.stop_reason).toBe('end_turn');
  });

  it('obeys the tool choice', async () => {
    const choose = async (tool_choice: Anthropic.ToolChoice): Promise<string | undefined> =>
      (await client.messages.create(ask({ tools: [WEATHER], tool_choice }))).content[0]?.type;
    expect(await choose({ type: 'none' })).toBe('text');
    expect(await choose({ type: 'any' })).toBe('tool_use');
    expect(await choose({ type: 'tool', name: 'weather' })).toBe('tool_use');
  });

  it('parses structured output', async () => {
    const message = await client.messages.parse(
      ask({
        output_config: {
          format: {
            type: 'json_schema',
            schema: {
              type: 'object',
              properties: { name: { type: 'string' } },
              required: ['name'],
              additionalProperties: false,
            },
          },
        },
      }),
    );
    expect(JSON.parse((message.content[0] as Anthropic.TextBlock).text)).toEqual({
      name: expect.any(String) as unknown,
    });
  });

  it('gets the finish reason of the token limit', async () => {
    const message = await client.messages.create(ask({ max_tokens: 2 }));
    expect(message.stop_reason).toBe('max_tokens');
    expect(message.usage.output_tokens).toBe(2);
  });

  it('counts tokens for free, and without a log row', async () => {
    const count = async (): Promise<unknown> =>
      (await gateway.database.query('SELECT count(*)::int AS n FROM request_logs')).rows;
    const before = await count();
    const { model, messages } = ask({ messages: [{ role: 'user', content: 'x'.repeat(41) }] });
    const params = { model, messages, system: 'abc' };
    const { data, response } = await client.messages.countTokens(params).withResponse();
    expect(data).toEqual({ input_tokens: 11 });
    expect(response.headers.get('x-ratelimit-limit')).toBe('100000');
    expect(response.headers.get('x-gateway-provider')).toBeNull();
    expect(await client.beta.messages.countTokens(params)).toEqual({ input_tokens: 11 });
    expect(await count()).toEqual(before);
  });

  it('works without a thread if the client is configured so', async () => {
    const thread = client.beta.messages.thread({
      model: MODEL,
      max_tokens: 100,
      unsupportedRequestBehavior: 'continue_unthreaded',
    });
    const first = await thread.send({ role: 'user', content: 'One' });
    const second = await thread.send({ role: 'user', content: 'Two' });
    expect([first, second].map(({ content }) => content[0])).toMatchObject([
      { text: 'Sandbox echo: One' },
      { text: 'Sandbox echo: Two' },
    ]);
  });

  it('may request betas, which are not sent to a vendor of another dialect', async () => {
    const betas = ['files-api-2025-04-14', 'context-1m-2025-08-07', 'effort-2025-11-24'];
    const { content } = await client.beta.messages.create({ ...ask(), betas });
    expect(content).toMatchObject([{ text: 'Sandbox echo: Hello 你好 👋' }]);
  });

  it('reaches any model with the gateway’s own fields', async () => {
    const params = {
      ...ask({ model: 'sandbox/fault-500' }),
      models: [MODEL],
      provider: { only: ['sandbox'] },
    };
    const message = await client.messages.create(params);
    expect(message.model).toBe(MODEL);
  });

  describe('throws its own', () => {
    const thrownBy = async (sent: PromiseLike<unknown>): Promise<unknown> => {
      try {
        return { answered: await sent };
      } catch (error) {
        return error;
      }
    };
    const failure = (status: number, type: string, param: string): unknown =>
      expect.objectContaining({
        status,
        type,
        requestID: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
        error: {
          type: 'error',
          error: { type, code: status, param, message: expect.any(String) as unknown },
        },
      });

    it('AuthenticationError', async () => {
      const error = await thrownBy(clientWith('sk-unknown-key-0000').messages.create(ask()));
      expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
      expect(error).toEqual(failure(401, 'authentication_error', 'authorization'));
    });

    it('BadRequestError', async () => {
      const error = await thrownBy(client.messages.create(ask({ max_tokens: 0 })));
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
      expect(error).toEqual(failure(400, 'invalid_request_error', 'max_tokens'));
    });

    it('BadRequestError for a model without a provider', async () => {
      const error = await thrownBy(client.messages.create(ask({ model: 'claude-opus-5' })));
      expect(error).toEqual(failure(400, 'invalid_request_error', 'model'));
    });

    it('BadRequestError for a vendor-run tool without a price', async () => {
      const tools = [{ type: 'web_fetch_20250910' as const, name: 'web_fetch' as const }];
      const error = await thrownBy(client.messages.create(ask({ tools })));
      expect(error).toEqual(failure(400, 'invalid_request_error', 'tools.0.type'));
    });

    it('NotFoundError', async () => {
      const error = await thrownBy(client.messages.create(ask({ model: 'a/b' })));
      expect(error).toBeInstanceOf(Anthropic.NotFoundError);
      expect(error).toEqual(failure(404, 'not_found_error', 'model'));
    });

    it('NotFoundError for unknown paths', async () => {
      const error = await thrownBy(client.messages.batches.retrieve('msgbatch_1'));
      expect(error).toBeInstanceOf(Anthropic.NotFoundError);
      expect(error).toEqual(failure(404, 'not_found_error', 'path'));
    });

    it('PermissionDeniedError', async () => {
      const error = await thrownBy(clientWith(gateway.managementKey).messages.create(ask()));
      expect(error).toBeInstanceOf(Anthropic.PermissionDeniedError);
      expect(error).toEqual(failure(403, 'permission_error', 'authorization'));
    });

    it('PaymentRequiredError', async () => {
      const error = await thrownBy(
        client.messages.create({ ...ask(), max_tokens: 2_000_000_000, stream: true }),
      );
      expect(error).toBeInstanceOf(Anthropic.PaymentRequiredError);
      expect(error).toEqual(failure(402, 'billing_error', 'credits'));
    });

    it('RateLimitError, also for counts', async () => {
      const limited = clientWith(await keyWith({ rate_limit_per_minute: 1 }));
      await limited.messages.countTokens({ model: MODEL, messages: ask().messages });
      const error = await thrownBy(limited.messages.create(ask()));
      expect(error).toBeInstanceOf(Anthropic.RateLimitError);
      expect(error).toEqual(failure(429, 'rate_limit_error', 'rate_limit_per_minute'));
      const { headers } = error as { headers: Headers };
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    });

    it('InternalServerError for vendor failures', async () => {
      const broken = await thrownBy(client.messages.create(ask({ model: 'sandbox/fault-500' })));
      expect(broken).toBeInstanceOf(Anthropic.InternalServerError);
      expect(broken).toEqual(failure(502, 'api_error', 'model'));
    });

    it('APIError within an interrupted stream', async () => {
      const stream = client.messages.stream(ask({ model: 'sandbox/fault-cut' }));
      const texts: string[] = [];
      stream.on('text', (text) => texts.push(text));
      const error = await thrownBy(stream.finalMessage());
      expect(error).toBeInstanceOf(Anthropic.APIError);
      expect(error).toMatchObject({ status: undefined, type: 'api_error' });
      expect(texts.join('')).toMatch(/in the mid$/);
    });
  });
});
