import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { withAliases, type ApiDescription } from '../support/api-description.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest, type LoggedRequest } from '../support/logged-request.js';
import { assembleMessage, parseMessageEvents } from '../support/message-events.js';
import { MESSAGES } from '../support/paths.js';
import { readAvailable } from '../support/streamed-answer.js';

const PATHS = ['/v1', '/api/v1'].flatMap((base) =>
  ['/messages', '/anthropic/messages', '/anthropic/v1/messages', '/vendora/messages']
    .concat('/vendora/v1/messages')
    .map((path) => base + path),
);
const USER = { role: 'user', content: 'Hello there' };

describe('POST /v1/anthropic/messages', () => {
  let gateway: BootedGateway;

  beforeAll(async () => {
    gateway = await bootGateway();
  });
  afterEach(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
  });
  afterAll(() => gateway.close());

  const bodyOf = (fields: object = {}): object => ({
    model: 'sandbox/echo',
    max_tokens: 100,
    messages: [USER],
    ...fields,
  });
  const send = (fields: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    gateway.post(MESSAGES, bodyOf(fields), headers);
  const rowOf = (response: Response): Promise<LoggedRequest & { endpoint: string }> =>
    loggedRequest(gateway.database, response.headers.get('x-request-id'));

  describe('paths', () => {
    it.each(PATHS)('%s answers, and counts tokens', async (path) => {
      const response = await gateway.post(path, bodyOf());
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ type: 'message' }),
      ]);
      const counted = await gateway.post(`${path}/count_tokens`, bodyOf());
      expect([counted.status, await counted.json()]).toEqual([200, { input_tokens: 3 }]);
    });

    it.each(PATHS)('%s returns errors in the dialect', async (path) => {
      for (const [response, status, param] of [
        [await gateway.post(path, {}), 400, 'model'],
        [await gateway.post(path, 'no JSON'), 400, 'body'],
        [await gateway.post(path, {}, { 'content-type': 'text/plain' }), 415, 'content-type'],
        [await gateway.post(`${path}/count_tokens`, {}), 400, 'model'],
        [await gateway.post(`${path}/batches`, {}), 404, 'path'],
        [await gateway.fetch(path), 405, 'method'],
        [await gateway.post(path, {}, { authorization: 'Bearer sk-wrong' }), 401, 'authorization'],
      ] as const) {
        const body = (await response.json()) as { type: string; error: object };
        expect([response.status, body.type, body.error]).toEqual([
          status,
          'error',
          expect.objectContaining({ code: status, param }),
        ]);
        expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
      }
    });

    it('is no other path’s way to tell errors', async () => {
      const response = await gateway.post('/v1/chat/completions', {});
      expect(await response.json()).not.toHaveProperty('type');
    });
  });

  describe('the key', () => {
    const withKey = (path: string, headers: Record<string, string>): Promise<Response> =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(bodyOf()),
      });

    it.each(PATHS)('may be sent as x-api-key on %s', async (path) => {
      expect((await withKey(path, { 'x-api-key': gateway.apiKey })).status).toBe(200);
      const counted = await withKey(`${path}/count_tokens`, { 'x-api-key': gateway.apiKey });
      expect(counted.status).toBe(200);
    });

    it('may not be sent as x-api-key on other paths', async () => {
      const answer = await withKey('/v1/chat/completions', { 'x-api-key': gateway.apiKey });
      expect(answer.status).toBe(401);
    });

    it('as a bearer key overrides a placeholder in x-api-key', async () => {
      const authorization = `Bearer ${gateway.apiKey}`;
      const answer = await withKey(MESSAGES, { 'x-api-key': 'placeholder', authorization });
      expect(answer.status).toBe(200);
    });

    it('is required', async () => {
      expect((await withKey(MESSAGES, {})).status).toBe(401);
    });
  });

  it('accepts any anthropic-version', async () => {
    expect((await send({}, { 'anthropic-version': '2026-10-21' })).status).toBe(200);
    expect((await send({}, { 'anthropic-version': 'whatever' })).status).toBe(200);
  });

  it('names fields that the vendor’s dialect does not support', async () => {
    const response = await send({ top_k: 5, thinking: { type: 'adaptive' }, Größe: 1 });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-dropped-params')).toBe('top_k, thinking, Gr??e');
  });

  it('accepts the fields that agents send, and drops them for vendors of other dialects', async () => {
    const response = await send(
      {
        context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
        tools: [
          { name: 'f', input_schema: { type: 'object' }, eager_input_streaming: true },
          { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
        ],
        tool_choice: { type: 'tool', name: 'web_search' },
        output_config: { effort: 'high' },
        thinking: { type: 'adaptive', display: 'summarized' },
      },
      { 'anthropic-beta': 'files-api-2025-04-14,claude-code-20250219,unheard-of-2026-01-01' },
    );
    expect(response.status).toBe(200);
    const dropped = response.headers.get('x-gateway-dropped-params')?.split(', ');
    expect(new Set(dropped)).toEqual(
      new Set([
        'context_management',
        'tools.eager_input_streaming',
        'tools.web_search_20250305',
        'tool_choice',
        'thinking',
        'thinking.display',
        'anthropic-beta.unheard-of-2026-01-01',
      ]),
    );
  });

  it('reports an overloaded vendor as overloaded', async () => {
    const response = await send({ model: 'sandbox/fault-529' });
    expect([response.status, await response.json()]).toMatchObject([
      529,
      { type: 'error', error: { type: 'overloaded_error', code: 529 } },
    ]);
  });

  it('makes clients with threads continue without them', async () => {
    const { error } = (await (await send({ thread: { type: 'create' } })).json()) as {
      error: unknown;
    };
    expect(error).toMatchObject({
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    });
  });

  it.each<[string, object, Record<string, string>?]>([
    ['max_tokens', { max_tokens: undefined }],
    ['max_tokens', { max_tokens: '5' }],
    ['model', { model: undefined }],
    ['model', { model: 'gpt-4o' }],
    ['models.0', { models: ['gpt-4o'] }],
    ['messages', { messages: [] }],
    ['messages', { messages: undefined }],
    ['messages.0.role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages.0.content.0.text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['system', { system: 5 }],
    ['temperature', { temperature: 2 }],
    ['stop_sequences', { stop_sequences: 'x' }],
    ['tools.0.input_schema', { tools: [{ name: 'f' }] }],
    ['tool_choice.type', { tool_choice: { type: 'required' } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
    ['service_tier', { service_tier: 'priority' }],
    ['container', { container: 'c' }],
    ['route', { route: 'fastest' }],
    ['stream', { stream: 'yes' }],
    ['thread', { thread: { type: 'create' } }],
    ['anthropic-workspace-id', {}, { 'anthropic-workspace-id': 'w' }],
  ])('rejects a bad %s by its name: %j', async (param, fields, headers = {}) => {
    const response = await send(fields, headers);
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          code: 400,
          param,
          message: expect.any(String) as unknown,
          ...(param === 'thread' && { details: expect.anything() as unknown }),
        },
      },
    ]);
  });

  describe('account', () => {
    it.each([true, false])('charges and logs like chat (stream: %s)', async (stream) => {
      const conversation = [
        { role: 'user', content: 'One two three?' },
        { role: 'assistant', content: 'Four.' },
        { role: 'user', content: [{ type: 'text', text: 'Five six?' }] },
      ];
      const message = await send({ system: 'Count on.', messages: conversation, stream });
      const chat = await gateway.post('/v1/chat/completions', {
        model: 'sandbox/echo',
        max_tokens: 100,
        messages: [{ role: 'system', content: 'Count on.' }, ...conversation],
        stream,
      });
      await Promise.all([message.text(), chat.text()]);
      const [messageRow, chatRow] = [await rowOf(message), await rowOf(chat)];
      expect(messageRow.endpoint).toBe('messages');
      expect(messageRow.cost).toBeGreaterThan(0);
      const unlike = {
        request_id: '',
        endpoint: '',
        created_at: '',
        latency_ms: 0,
        generation_time_ms: 0,
        first_token_ms: 0,
        vendor_started_ms: 0,
        id: 0,
      };
      expect({ ...messageRow, ...unlike }).toEqual({ ...chatRow, ...unlike });
    });

    it('shows a generation record', async () => {
      const response = await send();
      const id = response.headers.get('x-request-id');
      await response.text();
      const { data } = (await (await gateway.fetch(`/v1/generation?id=${id}`)).json()) as {
        data: Record<string, unknown>;
      };
      expect(data).toMatchObject({
        id,
        model: 'sandbox/echo',
        provider_name: 'sandbox',
        finish_reason: 'stop',
        total_cost: Number(response.headers.get('x-gateway-cost')),
      });
    });

    it('holds no credits and writes no row for rejected requests', async () => {
      const count = async (): Promise<unknown> =>
        (await gateway.database.query('SELECT count(*)::int AS n FROM request_logs')).rows;
      const before = await count();
      await send({ max_tokens: undefined });
      await send({}, { 'anthropic-workspace-id': 'w' });
      await wait(50);
      expect(await count()).toEqual(before);
    });
  });

  describe('a stream', () => {
    it('is the whole answer in pieces', async () => {
      const ask = { model: 'sandbox/words', messages: [{ role: 'user', content: '200 words' }] };
      const whole = (await (await send({ ...ask, max_tokens: 500 })).json()) as object;
      const response = await send({ ...ask, max_tokens: 500, stream: true });
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      expect(response.headers.get('x-cache')).toBe('MISS');
      expect(response.headers.get('x-gateway-provider')).toBe('sandbox');
      const message = assembleMessage(parseMessageEvents(await response.text()));
      expect({ ...message, id: '' }).toEqual({ ...whole, id: '' });
    });

    it('that is interrupted ends with an error event, and costs nothing', async () => {
      const response = await send({ model: 'sandbox/fault-cut', stream: true });
      const { body, isCut } = await readAvailable(response);
      const events = parseMessageEvents(body);
      expect([response.status, isCut]).toEqual([200, true]);
      expect(events.map(({ type }) => type)).toEqual([
        'message_start',
        'content_block_start',
        'content_block_delta',
        'error',
      ]);
      expect(events.at(-1)?.error).toMatchObject({ type: 'api_error', code: 502 });
      expect(await rowOf(response)).toMatchObject({
        outcome: 'failed',
        cost: 0,
        error_type: 'provider_error',
        finish_reason: null,
      });
    });

    it('that fails before its first content is an ordinary error', async () => {
      const response = await send({ model: 'sandbox/fault-400', stream: true });
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ type: 'error' }),
      ]);
    });

    it('whose caller disconnects is charged up to there', async () => {
      const abort = new AbortController();
      const response = await gateway.fetch(MESSAGES, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(
          bodyOf({
            model: 'sandbox/words',
            messages: [{ role: 'user', content: '100000 words' }],
            max_tokens: 100_000,
            stream: true,
          }),
        ),
        signal: abort.signal,
      });
      const reader = response.body!.getReader();
      await reader.read();
      abort.abort();
      const row = await rowOf(response);
      expect(row.outcome).toBe('cancelled');
      // A fast machine finishes within the grace period.
      expect(['upstream', 'estimated']).toContain(row.usage_source);
      expect(row.completion_tokens).toBeGreaterThan(0);
      expect(row.completion_tokens).toBeLessThanOrEqual(100_000);
    });
  });

  it('is documented once for all its paths, with the key it accepts', async () => {
    type Operation = { security?: object[]; operationId?: string };
    const document = await (await gateway.fetch('/docs-json')).json();
    const paths = withAliases(document as ApiDescription<Operation>);
    for (const path of PATHS) {
      const security = [{ bearer: [] }];
      expect(paths[path]?.post).toMatchObject({ operationId: 'createMessage', security });
      expect(paths[`${path}/count_tokens`]?.post).toMatchObject({
        operationId: 'countMessageTokens',
        security,
      });
    }
  });
});
