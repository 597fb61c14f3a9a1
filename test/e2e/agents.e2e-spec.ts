import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  politeAnswer,
  sendJson,
  startFakeOpenAi,
  type FakeAnswer,
  type FakeOpenAi,
} from '../support/fake-openai.js';
import { respond, streamEvents, writeEvent } from '../support/fake-responses.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest, type LoggedRequest } from '../support/logged-request.js';
import {
  blockStart,
  MESSAGE_STOP,
  messageEnd,
  messageStart,
  textBlock,
} from '../support/messages-stream.js';
import { writeOperatorFiles } from '../support/operator-files.js';
import { CHAT, MESSAGES, RESPONSES } from '../support/paths.js';
import { shortenGraces } from '../support/short-graces.js';
import { until } from '../support/until.js';
import { streamOf } from '../support/vendor-stream.js';

/** 0.01 USD, in credits. */
const SEARCH_FEE = 10_000;
const LONG_MODEL = 'anthropic/claude-opus-5-5';
const SHORT_MODEL = 'anthropic/claude-haiku-4-5';
const PRICES = { prompt: '0.000001', completion: '0.000002' };
const USER = { role: 'user', content: 'Hi' };
const BETA = 'anthropic-beta';
const SEARCH_TOOL = { type: 'web_search_20250305', name: 'web_search' };
const SEARCH_BLOCK = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
const SEARCH_CALL = { type: 'web_search_call', id: 'ws_1', action: { type: 'search' } };

const message =
  (usage: object = {}): FakeAnswer =>
  (call, response) => {
    const counted = { input_tokens: 10, output_tokens: 5, ...usage };
    if (call.body.stream === true) {
      const pieces = [messageStart(), blockStart(0, SEARCH_BLOCK), textBlock(1, 'Hello')];
      return streamOf([...pieces, messageEnd('end_turn', counted), MESSAGE_STOP], 'end')(
        call,
        response,
      );
    }
    sendJson(response, 200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: counted,
    });
  };

describe('requests of coding agents', () => {
  let fake: FakeOpenAi;
  let gateway: BootedGateway;
  let files: Awaited<ReturnType<typeof writeOperatorFiles>>;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    files = await writeOperatorFiles({ one: fake.baseUrl }, [
      { id: 'one/plain', pricing: PRICES },
      { id: 'one/search', pricing: { ...PRICES, web_search: '0.01' } },
      { id: 'anthropic/unpriced', pricing: PRICES },
    ]);
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key',
      OPENAI_BASE_URL: fake.baseUrl,
      ANTHROPIC_API_KEY: 'sk-ant-vendor',
      ANTHROPIC_BASE_URL: fake.baseUrl.replace(/\/v1$/, ''),
      GATEWAY_COOLDOWN_MS: '1',
      ...files.environment,
    });
    shortenGraces(gateway);
  });
  beforeEach(() => {
    fake.answer = message();
    fake.calls.length = 0;
  });
  afterEach(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });
  afterAll(async () => {
    await gateway.close();
    await fake.close();
    await files.remove();
  });

  const ask = (fields: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    gateway.post(
      MESSAGES,
      { model: LONG_MODEL, max_tokens: 50, messages: [USER], ...fields },
      headers,
    );
  const rowOf = async (response: Response): Promise<LoggedRequest> => {
    await response.text();
    return loggedRequest(gateway.database, response.headers.get('x-request-id'));
  };
  const refusalOf = async (response: Response): Promise<unknown> => {
    const { error } = (await response.json()) as { error: { param: string; message: string } };
    return [response.status, error.param, error.message];
  };

  describe('betas', () => {
    it('are sent to their vendor if free or priced, and unknown ones are named', async () => {
      const names = 'claude-code-20250219,effort-2025-11-24,unheard-of-2026-01-01';
      const response = await ask({ output_config: { effort: 'high' } }, { [BETA]: names });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-gateway-dropped-params')).toBe(
        'anthropic-beta.unheard-of-2026-01-01',
      );
      expect(fake.calls[0]!.headers[BETA]).toBe('claude-code-20250219,effort-2025-11-24');
      expect(fake.calls[0]!.body).toMatchObject({ output_config: { effort: 'high' } });
    });

    it('are rejected by name if they enable something without a price', async () => {
      const refused = await refusalOf(await ask({}, { [BETA]: 'files-api-2025-04-14' }));
      expect(refused).toEqual([400, BETA, expect.stringContaining('files-api-2025-04-14')]);
      const inBody = await refusalOf(await ask({ anthropic_beta: ['mcp-client-2025-11-20'] }));
      expect(inBody).toEqual([400, BETA, expect.stringContaining('mcp-client-2025-11-20')]);
      expect(fake.calls).toEqual([]);
    });

    it('enable long prompts only if the model has a price for them', async () => {
      const headers = { [BETA]: 'context-1m-2025-08-07' };
      expect((await ask({}, headers)).status).toBe(200);
      expect(fake.calls[0]!.headers).not.toHaveProperty(BETA);
      const refused = await refusalOf(await ask({ model: SHORT_MODEL }, headers));
      expect(refused).toEqual([400, BETA, expect.stringContaining('context-1m')]);
    });

    it('are never sent to a vendor of another dialect', async () => {
      fake.answer = politeAnswer();
      const headers = { [BETA]: 'files-api-2025-04-14,context-1m-2025-08-07' };
      const response = await ask(
        {
          model: 'one/plain',
          thinking: { type: 'adaptive' },
          output_config: { effort: 'low' },
          metadata: { user_id: 'u'.repeat(200) },
        },
        headers,
      );
      expect(response.status).toBe(200);
      const [call] = fake.calls;
      expect(call!.headers).not.toHaveProperty(BETA);
      expect(call!.body).toMatchObject({
        reasoning_effort: 'low',
        user: expect.stringMatching(/^user_[\w-]{32}$/),
      });
    });
  });

  describe('searches run by the vendor', () => {
    const counted = { server_tool_use: { web_search_requests: 2 } };

    it.each([false, true])('are charged by its count in messages (stream: %s)', async (stream) => {
      fake.answer = message(counted);
      const row = await rowOf(await ask({ tools: [SEARCH_TOOL], stream }));
      expect(fake.calls[0]!.body.tools).toEqual([{ ...SEARCH_TOOL, max_uses: 10 }]);
      expect(row).toMatchObject({ outcome: 'completed', managed_tool_fee: 2 * SEARCH_FEE });
      expect(row.cost).toBeGreaterThan(2 * SEARCH_FEE);
    });

    it.each([false, true])('are counted in a response’s output (stream: %s)', async (stream) => {
      const message = { type: 'message', id: 'm', role: 'assistant', status: 'completed' };
      const text = { type: 'output_text', text: 'Hello', annotations: [] };
      const opened = { ...SEARCH_CALL, action: { type: 'open_page' } };
      fake.answer = respond({
        output: [SEARCH_CALL, opened, SEARCH_CALL, { ...message, content: [text] }],
      });
      const body = { model: 'openai/gpt-5.4', input: 'Hi', stream };
      const tools = [{ type: 'web_search', external_web_access: false }];
      const row = await rowOf(await gateway.post(RESPONSES, { ...body, tools }));
      expect(fake.calls[0]!.body).toMatchObject({ tools, max_tool_calls: 10 });
      expect(row).toMatchObject({ outcome: 'completed', managed_tool_fee: 2 * SEARCH_FEE });
    });

    it.each([false, true])('are one for each chat answer (stream: %s)', async (stream) => {
      fake.answer = politeAnswer();
      const body = { model: 'one/search', messages: [USER], web_search_options: {}, stream };
      const row = await rowOf(await gateway.post(CHAT, body));
      expect(fake.calls[0]!.body).toMatchObject({ web_search_options: {} });
      expect(row).toMatchObject({ outcome: 'completed', managed_tool_fee: SEARCH_FEE });
    });

    it('are covered by the hold', async () => {
      const tools = [{ ...SEARCH_TOOL, max_uses: 20 }, SEARCH_TOOL];
      fake.answer = (_call, response) => void response.writeHead(200).flushHeaders();
      const left = new AbortController();
      const answer = gateway.fetch(MESSAGES, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: LONG_MODEL, max_tokens: 5, messages: [USER], tools }),
        signal: left.signal,
      });
      await until(() => fake.calls.length === 1);
      const holds = await gateway.database.query<{ amount: string }>('SELECT amount FROM holds');
      left.abort();
      await expect(answer).rejects.toThrow();
      const held = holds.rows.map(({ amount }) => Number(amount));
      expect(Math.max(0, ...held)).toBeGreaterThan(30 * SEARCH_FEE);
    });

    it('are rejected without a price', async () => {
      const messages = await ask({ model: 'anthropic/unpriced', tools: [SEARCH_TOOL] });
      const reason: unknown = expect.stringContaining('no price');
      expect(await refusalOf(messages)).toEqual([400, 'tools.0.type', reason]);
      const tools = [{ type: 'web_search' }];
      const responses = { model: 'openai/gpt-4.1-nano', input: 'Hi', tools };
      expect(await refusalOf(await gateway.post(RESPONSES, responses))).toEqual([
        400,
        'tools.0.type',
        reason,
      ]);
      const chat = { model: 'one/plain', messages: [USER], web_search_options: {} };
      expect(await refusalOf(await gateway.post(CHAT, chat))).toEqual([
        400,
        'web_search_options',
        reason,
      ]);
      expect(fake.calls).toEqual([]);
    });

    it('are charged up to the point where the caller disconnected', async () => {
      const started = [messageStart(), blockStart(0, SEARCH_BLOCK)];
      fake.answer = streamOf([...started, blockStart(1, { type: 'text', text: 'a' })], 'hang');
      const responses: FakeAnswer = (call, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of streamEvents(call, { output: [SEARCH_CALL] }).slice(0, 4)) {
          writeEvent(response, event);
        }
        writeEvent(response, { type: 'response.output_text.delta', delta: 'a' });
      };
      const disconnect = async (path: string, body: object): Promise<LoggedRequest> => {
        const left = new AbortController();
        const response = await gateway.fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, stream: true }),
          signal: left.signal,
        });
        left.abort();
        return loggedRequest(gateway.database, response.headers.get('x-request-id'));
      };
      const request = { model: LONG_MODEL, max_tokens: 9, messages: [USER], tools: [SEARCH_TOOL] };
      const charged = { outcome: 'cancelled', managed_tool_fee: SEARCH_FEE };
      expect(await disconnect(MESSAGES, request)).toMatchObject(charged);
      fake.answer = responses;
      const tools = [{ type: 'web_search' }];
      expect(
        await disconnect(RESPONSES, { model: 'openai/gpt-5.4', input: 'Hi', tools }),
      ).toMatchObject(charged);
    });
  });

  describe('Responses tools that run in the client', () => {
    const read = { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false };
    const tools = [
      { type: 'namespace', name: 'files', description: 'Files.', tools: [read] },
      { type: 'shell' },
      { type: 'custom', name: 'patch', format: { type: 'grammar' } },
      { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
      { type: 'web_search', external_web_access: false },
    ];
    const called = (name: string, args: object): FakeAnswer =>
      politeAnswer({
        message: {
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } },
          ],
        },
        finishReason: 'tool_calls',
      });
    const create = async (body: object): Promise<Record<string, unknown>> => {
      const response = await gateway.post(RESPONSES, { model: 'one/plain', tools, ...body });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-gateway-dropped-params')).toBe('tools.2.format, tools.4');
      return (await response.json()) as Record<string, unknown>;
    };

    it('are sent to their vendor unchanged', async () => {
      fake.answer = respond();
      const own = tools.slice(0, 4);
      const body = { model: 'openai/gpt-5.4', input: 'Hi', tools: own };
      expect((await gateway.post(RESPONSES, body)).status).toBe(200);
      expect(fake.calls[0]!.body).toMatchObject({ tools: own });
      expect(fake.calls[0]!.body).not.toHaveProperty('max_tool_calls');
    });

    it.each([
      [
        'files__read',
        { path: 'a' },
        { type: 'function_call', name: 'read', namespace: 'files', arguments: '{"path":"a"}' },
      ],
      [
        'shell',
        { commands: ['ls'] },
        { type: 'shell_call', action: { commands: ['ls'] }, environment: { type: 'local' } },
      ],
      ['patch', { input: 'x' }, { type: 'custom_tool_call', name: 'patch', input: 'x' }],
      [
        'tool_search',
        { query: 'x' },
        { type: 'tool_search_call', execution: 'client', arguments: { query: 'x' } },
      ],
    ])(
      'become functions for other vendors: %s is returned as declared',
      async (name, args, item) => {
        fake.answer = called(name, args);
        const { output, id } = await create({ input: 'Hi' });
        expect(output).toMatchObject([{ ...item, call_id: 'call_1', status: 'completed' }]);
        const { tools: sent } = fake.calls[0]!.body as { tools: { function: { name: string } }[] };
        expect(sent.map((tool) => tool.function.name)).toEqual([
          'files__read',
          'shell',
          'patch',
          'tool_search',
        ]);

        fake.answer = politeAnswer();
        const result = { type: 'function_call_output', call_id: 'call_1', output: 'done' };
        await create({ input: [result], previous_response_id: id });
        const { messages } = fake.calls[1]!.body as { messages: Record<string, unknown>[] };
        expect(messages.slice(-2)).toMatchObject([
          { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name } }] },
          { role: 'tool', tool_call_id: 'call_1' },
        ]);
      },
    );
  });
});
