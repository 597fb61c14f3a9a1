import { describe, expect, it, jest } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import {
  collectEvents,
  drivenTransport,
  sendJson,
  type Drive,
} from '../../../test/support/driven-transport.js';
import { FakeConnection, LONG_LIMITS } from '../../../test/support/fake-connection.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type { GoogleAccess } from './google-access-tokens.js';
import type { UpstreamCall } from '../upstream.js';
import { VertexAdapter } from './vertex.adapter.js';

const TOKEN = 'token-of-no-known-shape';
const provider: ProviderConfig = {
  id: 'vertex',
  name: 'Google Vertex AI',
  adapter: 'vertex',
  type: 'gcp',
  baseUrl: '',
  apiKey: TOKEN,
  settings: { project: 'my-project', location: 'us-central1' },
};

const part = { candidates: [{ content: { parts: [{ text: 'Hi' }] } }], responseId: 'r' };
const answer = {
  candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  responseId: 'r',
};
const sse = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const SSE = { 'content-type': 'text/event-stream' };

interface Options {
  provider?: Partial<ProviderConfig>;
  model?: string;
  signal?: AbortSignal;
  limits?: typeof LONG_LIMITS;
  get?: () => Promise<GoogleAccess>;
}

function setUp(drive: Drive, options: Options = {}) {
  const { transport, calls, connections } = drivenTransport(drive);
  const tokens = {
    get: jest.fn(options.get ?? (() => Promise.resolve({ token: TOKEN, quotaProject: 'quota' }))),
    forget: jest.fn(),
  };
  const adapter = new VertexAdapter({ ...provider, ...options.provider }, transport, tokens);
  const { signal = new AbortController().signal, limits = LONG_LIMITS } = options;
  const generate = (fields: Record<string, unknown> = {}, call: Partial<UpstreamCall> = {}) =>
    adapter.generate({
      request: chatRequest(fields),
      alias: 'vertex/gemini',
      upstreamModel: options.model ?? 'gemini-2.5-flash',
      limits,
      maxOutputTokens: 4_096,
      signal,
      ...call,
    });
  return { adapter, calls, connections, tokens, generate, signal };
}

const ADC = { provider: { apiKey: undefined } };

describe(VertexAdapter.name, () => {
  it('classifies a JSON error in place of a stream', async () => {
    const error = { code: 400, message: 'Bad.', status: 'INVALID_ARGUMENT' };
    for (const body of [{ error }, [{ error }]]) {
      const { generate } = setUp(sendJson(body));
      await expect(collectEvents(generate({ stream: true }))).rejects.toMatchObject({
        failure: 'caller',
        message: 'Bad.',
      });
    }
  });

  it('sends one authenticated request, at the first pull', async () => {
    const { calls, generate } = setUp(sendJson(answer));
    const events = generate({ max_tokens: 5 });
    expect(calls).toHaveLength(0);
    expect((await collectEvents(events)).map((event) => event.type)).toEqual([
      'start',
      'text',
      'finish',
    ]);
    expect(calls).toHaveLength(1);
    expect(String(calls[0]?.url)).toBe(
      'https://us-central1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent',
    );
    expect(calls[0]).toMatchObject({
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      limits: LONG_LIMITS,
    });
    expect(JSON.parse(String(calls[0]?.body))).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 5 },
    });
  });

  it.each([
    ['global', '', 'https://aiplatform.googleapis.com'],
    ['eu', '', 'https://aiplatform.eu.rep.googleapis.com'],
    ['us', '', 'https://aiplatform.us.rep.googleapis.com'],
    ['europe-west4', '', 'https://europe-west4-aiplatform.googleapis.com'],
    ['global', 'http://127.0.0.1:9', 'http://127.0.0.1:9'],
  ])('maps location %s, with base URL %j, to %s', async (location, baseUrl, origin) => {
    const settings = { project: 'p', location };
    const { calls, generate } = setUp(sendJson(answer), { provider: { baseUrl, settings } });
    await collectEvents(generate());
    expect(calls[0]?.url.origin).toBe(origin);
    expect(calls[0]?.url.pathname).toContain(`/v1/projects/p/locations/${location}/`);
  });

  it('escapes everything in a path that could lead elsewhere', async () => {
    const { calls, generate } = setUp(sendJson(answer), { model: '../../x?y=1#@z' });
    await collectEvents(generate());
    expect(calls[0]?.url.pathname).toMatch(
      /\/models\/\.\.%2F\.\.%2Fx%3Fy%3D1%23@z:generateContent$/,
    );
    expect(calls[0]?.url.search).toBe('');
  });

  it.each([
    ['claude-sonnet-4-5@20250929', 'context-management-2025-06-27'],
    ['gemini-2.5-flash', undefined],
  ])('sends %s the betas that it supports', async (model, sent) => {
    const { calls, generate } = setUp(sendJson({}, 500), { model });
    const vendorHeaders = {
      'anthropic-beta': 'claude-code-20250219,context-management-2025-06-27,effort-2025-11-24',
    };
    await expect(collectEvents(generate({}, { vendorHeaders }))).rejects.toThrow();
    expect(calls[0]?.headers['anthropic-beta']).toBe(sent);
  });

  it.each([false, true])('uses the messages dialect with Claude (stream: %s)', async (stream) => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 2 },
    };
    const { calls, generate, adapter } = setUp(sendJson(message), {
      model: 'claude-sonnet-4-5@20250929',
    });
    const collected = collectEvents(generate({ stream }));
    // The answer is not a stream, which is an error for a streaming caller.
    if (stream) await expect(collected).rejects.toMatchObject({ failure: 'unreadable' });
    else expect((await collected).some((event) => event.type === 'text')).toBe(true);
    expect(String(calls[0]?.url)).toContain(
      `/publishers/anthropic/models/claude-sonnet-4-5@20250929:${stream ? 'streamRawPredict' : 'rawPredict'}`,
    );
    const body = JSON.parse(String(calls[0]?.body)) as Record<string, unknown>;
    expect(body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', max_tokens: 4_096 });
    expect(body).not.toHaveProperty('model');
    const route = { upstreamModel: 'claude-opus-5-5', maxOutputTokens: 1 };
    expect(adapter.droppedParams(chatRequest({ seed: 1 }), route)).toEqual(['seed']);
  });

  it("validates the request by the model's traits", async () => {
    const two = { n: 2 };
    const older = setUp(sendJson(answer), { model: 'gemini-2.5-flash' });
    await collectEvents(older.generate(two));
    const newer = setUp(sendJson(answer), { model: 'gemini-4-argon' });
    await expect(collectEvents(newer.generate(two))).rejects.toMatchObject({
      failure: 'unsupported',
      param: 'n',
    });
    expect(newer.calls).toHaveLength(0);
    const request = chatRequest({ reasoning_effort: 'none', user: 'u' });
    const routeTo = (upstreamModel: string) => ({ upstreamModel, maxOutputTokens: 4_096 });
    expect(newer.adapter.droppedParams(request, routeTo('gemini-2.5-flash'))).toEqual(['user']);
    expect(newer.adapter.droppedParams(request, routeTo('gemini-4-argon'))).toEqual([
      'user',
      'reasoning',
    ]);
  });

  describe('streaming', () => {
    const stream = { stream: true };

    it('yields events as they arrive', async () => {
      const { calls, connections, generate } = setUp((it) => void it.answer(200, SSE));
      const events = generate(stream)[Symbol.asyncIterator]();
      const first = events.next();
      await new Promise((resolve) => setImmediate(resolve));
      connections[0]?.send(sse(part));
      expect((await first).value).toEqual({ type: 'start', id: 'r' });
      expect((await events.next()).value).toMatchObject({ type: 'text', text: 'Hi' });
      const end = events.next();
      connections[0]?.send(sse(answer)).end();
      expect((await end).value).toMatchObject({ type: 'text', text: 'Hi' });
      expect((await events.next()).value).toMatchObject({ type: 'finish', reason: 'stop' });
      expect((await events.next()).done).toBe(true);
      expect(calls[0]?.url.pathname).toMatch(/:streamGenerateContent$/);
      expect(calls[0]?.url.search).toBe('?alt=sse');
      expect(calls[0]?.headers.accept).toBe('text/event-stream');
      expect(connections[0]?.actions).toEqual([]);
    });

    it.each([undefined, 'text/plain', 'text/html'])(
      'closes the connection on content-type %s',
      async (type) => {
        const headers = type === undefined ? {} : { 'content-type': type };
        const { connections, generate } = setUp((it) => void it.answer(200, headers).send('[{}]'));
        await expect(collectEvents(generate(stream))).rejects.toMatchObject({
          failure: 'unreadable',
        });
        expect(connections[0]?.actions).toEqual(['abort']);
      },
    );

    it.each<[string, (connection: FakeConnection) => void, object]>([
      ['ends early', (it) => void it.end(), { failure: 'cut' }],
      ['is reset', (it) => void it.fail('ECONNRESET'), { failure: 'reset' }],
      [
        'contains an error',
        (it) => void it.send(sse({ error: { code: 429, message: `not ${TOKEN}` } })),
        { failure: 'rate_limited', message: 'not [redacted]' },
      ],
    ])('fails after the events before it when the stream %s', async (_name, finish, failure) => {
      const { generate } = setUp((it) => {
        it.answer(200, SSE).send(sse(part));
        finish(it);
      });
      const seen: string[] = [];
      const failing = (async () => {
        for await (const event of generate(stream)) seen.push(event.type);
      })();
      await expect(failing).rejects.toMatchObject(failure);
      expect(seen.length).toBeLessThanOrEqual(2);
    });

    it('closes the connection when its reader leaves', async () => {
      const { connections, generate } = setUp((it) => void it.answer(200, SSE).send(sse(part)));
      for await (const event of generate(stream)) if (event.type === 'text') break;
      expect(connections[0]?.actions).toEqual(['abort']);
    });
  });

  describe('errors', () => {
    const refuse = (status: number, body: string, options: Options = {}) => {
      const set = setUp((it) => void it.answer(status).send(body).end(), options);
      return { ...set, failing: collectEvents(set.generate()) };
    };

    it.each<[number, string, object]>([
      [400, '{"error":{"message":"bad","status":"INVALID_ARGUMENT"}}', { failure: 'caller' }],
      [400, `{"error":{"message":"is ${TOKEN}"}}`, { message: 'is [redacted]' }],
      [502, '<html>', { failure: 'server', status: 502 }],
      [503, '', { failure: 'server' }],
      [400, JSON.stringify({ error: { message: 'x'.repeat(300_000) } }), { failure: 'caller' }],
    ])('of status %i are classified', async (status, body, expected) => {
      await expect(refuse(status, body).failing).rejects.toMatchObject(expected);
    });

    it('of the token trigger a new one', async () => {
      const { failing, tokens } = refuse(401, '{}', ADC);
      await expect(failing).rejects.toMatchObject({ failure: 'operator' });
      expect(tokens.forget).toHaveBeenCalledWith(TOKEN);
    });

    it('of other kinds keep the token', async () => {
      const { failing, tokens } = refuse(403, '{}', ADC);
      await expect(failing).rejects.toMatchObject({ failure: 'operator' });
      expect(tokens.forget).not.toHaveBeenCalled();
    });
  });

  describe('with application default credentials', () => {
    it('uses their token and bills their project', async () => {
      const { calls, generate } = setUp(sendJson(answer), ADC);
      await collectEvents(generate());
      expect(calls[0]?.headers).toMatchObject({
        authorization: `Bearer ${TOKEN}`,
        'x-goog-user-project': 'quota',
      });
    });

    it('fails without credentials', async () => {
      const failure = new UpstreamError({ failure: 'operator', message: 'none' });
      const { calls, generate } = setUp(sendJson(answer), {
        ...ADC,
        get: () => Promise.reject(failure),
      });
      await expect(collectEvents(generate())).rejects.toBe(failure);
      expect(calls).toHaveLength(0);
    });

    it('limits the wait for a token by the time limit and the caller', async () => {
      const never = (): Promise<GoogleAccess> => new Promise(() => undefined);
      const limits = { ...LONG_LIMITS, firstByteMs: 5 };
      const slow = setUp(sendJson(answer), { ...ADC, get: never, limits });
      await expect(collectEvents(slow.generate())).rejects.toMatchObject({ failure: 'timeout' });

      const aborter = new AbortController();
      const left = setUp(sendJson(answer), { ...ADC, get: never, signal: aborter.signal });
      const failing = collectEvents(left.generate());
      setImmediate(() => aborter.abort());
      await expect(failing).rejects.toBeInstanceOf(CallAbortedError);

      const aborted = setUp(sendJson(answer), { ...ADC, signal: AbortSignal.abort() });
      await expect(collectEvents(aborted.generate())).rejects.toBeInstanceOf(CallAbortedError);
      expect(aborted.tokens.get).not.toHaveBeenCalled();
    });
  });

  describe('probe', () => {
    it('is a cheap authenticated GET', async () => {
      const { adapter, calls, signal } = setUp(sendJson({ publisherModels: [] }), ADC);
      await adapter.probe({ limits: LONG_LIMITS, signal });
      expect(calls).toHaveLength(1);
      expect(calls[0]).toMatchObject({
        method: 'GET',
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      expect(calls[0]?.url.pathname).toBe('/v1beta1/publishers/google/models');
    });

    it('fails when the vendor rejects the token, and redacts it', async () => {
      const { adapter, signal } = setUp(
        (it) => void it.answer(401).send(`{"error":{"message":"${TOKEN}"}}`).end(),
      );
      await expect(adapter.probe({ limits: LONG_LIMITS, signal })).rejects.toMatchObject({
        failure: 'operator',
        message: '[redacted]',
      });
    });
  });
});
