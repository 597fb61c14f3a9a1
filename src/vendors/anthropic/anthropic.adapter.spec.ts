import { describe, expect, it } from '@jest/globals';
import {
  collectEvents,
  drivenTransport,
  sendJson,
  type Drive,
} from '../../../test/support/driven-transport.js';
import { FakeConnection, LONG_LIMITS } from '../../../test/support/fake-connection.js';
import {
  MESSAGE_STOP,
  PING,
  errorEvent,
  messageEnd,
  messageStart,
  textBlock,
} from '../../../test/support/messages-stream.js';
import { messagesRequest, promptRequest } from '../../../test/support/prompt-requests.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { AnthropicAdapter } from './anthropic.adapter.js';

const provider = {
  id: 'anthropic',
  name: 'Anthropic',
  adapter: 'anthropic',
  type: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  apiKey: 'secret-key-of-no-known-shape' as string | undefined,
  settings: {},
} as const;

const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 2 },
};
const STREAM = messageStart() + PING + textBlock(0, 'Hi') + messageEnd() + MESSAGE_STOP;
const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };

/** Creates an adapter whose connections the test drives. */
function adapterOf(drive: Drive, overrides: Partial<typeof provider> = {}) {
  const { transport, calls, connections } = drivenTransport(drive);
  const adapter = new AnthropicAdapter({ ...provider, ...overrides }, transport);
  return { adapter, calls, connections };
}

const callOf = (request: CanonicalRequest, signal = new AbortController().signal) => ({
  request,
  alias: 'anthropic/claude-haiku-4-5',
  upstreamModel: 'claude-haiku-4-5',
  limits: LONG_LIMITS,
  maxOutputTokens: 4_096,
  signal,
});

const sendStream = (text: string) => (connection: FakeConnection) =>
  void connection.answer(200, SSE).send(text);

const MESSAGES_BODY = {
  model: 'anthropic/claude-haiku-4-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi' }],
};

describe(AnthropicAdapter.name, () => {
  it('sends one authenticated request, at the first pull', async () => {
    const { adapter, calls } = adapterOf(sendJson(answer));
    const events = adapter.generate(callOf(promptRequest()));
    expect(calls).toHaveLength(0);
    await collectEvents(events);
    expect(calls).toHaveLength(1);
    const [call] = calls;
    expect(String(call?.url)).toBe('https://api.anthropic.com/v1/messages');
    expect(call).toMatchObject({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'x-api-key': 'secret-key-of-no-known-shape',
        'anthropic-version': '2023-06-01',
      },
    });
    expect(call?.headers).not.toHaveProperty('authorization');
    expect(JSON.parse(String(call?.body))).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 4_096,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    });
  });

  it('sends the headers allowed for the route', async () => {
    const { adapter, calls } = adapterOf(sendJson(answer));
    const vendorHeaders = { 'anthropic-beta': 'effort-2025-11-24' };
    const request = messagesRequest(MESSAGES_BODY);
    await collectEvents(adapter.generate({ ...callOf(request), vendorHeaders }));
    await collectEvents(adapter.generate(callOf(request)));
    expect(calls[0]?.headers).toMatchObject(vendorHeaders);
    expect(calls[1]?.headers).not.toHaveProperty('anthropic-beta');
  });

  it('sends no key without one', async () => {
    const { adapter, calls } = adapterOf(sendJson(answer), { apiKey: undefined });
    await collectEvents(adapter.generate(callOf(promptRequest())));
    expect(calls[0]?.headers).not.toHaveProperty('x-api-key');
  });

  it('translates whole answers and streams for callers of other dialects', async () => {
    const whole = adapterOf(sendJson(answer)).adapter.generate(callOf(promptRequest()));
    const { adapter, calls } = adapterOf(sendStream(STREAM));
    const streamed = adapter.generate(callOf(promptRequest({}, { stream: true })));
    const types = ['start', 'text', 'finish', 'usage'];
    expect((await collectEvents(whole)).map(({ type }) => type)).toEqual(types);
    const pieces = (await collectEvents(streamed)).map(({ type }) => type);
    expect(pieces).toEqual(['start', 'usage', 'text', 'finish', 'usage']);
    expect(calls[0]?.headers.accept).toBe('text/event-stream');
    expect(JSON.parse(String(calls[0]?.body))).toMatchObject({ stream: true });
  });

  it('relays requests of the messages dialect', async () => {
    const { adapter, calls } = adapterOf(sendJson(answer));
    const body = { ...MESSAGES_BODY, temperature: 0.1, provider: {} };
    const events = await collectEvents(adapter.generate(callOf(messagesRequest(body))));
    expect(calls[0]?.body?.toString()).toBe(
      JSON.stringify({ ...MESSAGES_BODY, model: 'claude-haiku-4-5', temperature: 0.1 }),
    );
    expect(events).toMatchObject([
      { type: 'start' },
      {
        type: 'relay',
        bytes: Buffer.from(JSON.stringify({ ...answer, model: 'anthropic/claude-haiku-4-5' })),
      },
    ]);

    const stream = adapterOf(sendStream(STREAM));
    const request = messagesRequest({ ...MESSAGES_BODY, stream: true });
    const relayed = await collectEvents(stream.adapter.generate(callOf(request)));
    const bytes = relayed.map((event) => (event.type === 'relay' ? event.bytes.toString() : ''));
    expect(bytes.join('')).toContain('"text":"Hi"');
    expect(bytes.join('')).not.toContain('message_stop');
    // The connection is drained, so that it can be reused.
    expect(stream.connections[0]?.actions).toEqual([]);
  });

  it.each([undefined, 'text/plain', 'text/html'])(
    'closes the connection on a stream of content-type %s',
    async (type) => {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const { adapter, connections } = adapterOf((it) => void it.answer(200, headers).send('x'));
      const events = adapter.generate(callOf(promptRequest({}, { stream: true })));
      await expect(collectEvents(events)).rejects.toMatchObject({ failure: 'unreadable' });
      expect(connections[0]?.actions).toEqual(['abort']);
    },
  );

  it.each<[string, string, (connection: FakeConnection) => void, object]>([
    ['ends early', messageStart() + textBlock(0, 'Hi'), (it) => void it.end(), { failure: 'cut' }],
    [
      'breaks',
      messageStart() + textBlock(0, 'Hi'),
      (it) => void it.fail('ECONNRESET'),
      { failure: 'reset' },
    ],
    [
      'reports a failure before content',
      messageStart() + errorEvent('overloaded_error', 'Overloaded'),
      () => undefined,
      { failure: 'server', status: 529 },
    ],
    [
      'reports a failure after content',
      messageStart() + textBlock(0, 'Hi') + errorEvent('api_error', 'Oh'),
      () => undefined,
      { failure: 'server', status: 500 },
    ],
  ])('fails when the stream %s', async (_, text, finish, failure) => {
    for (const request of [
      promptRequest({}, { stream: true }),
      messagesRequest({ ...MESSAGES_BODY, stream: true }),
    ]) {
      const { adapter } = adapterOf((it) => {
        it.answer(200, SSE).send(text);
        finish(it);
      });
      await expect(collectEvents(adapter.generate(callOf(request)))).rejects.toMatchObject(failure);
    }
  });

  it('closes the connection when its reader leaves', async () => {
    const { adapter, connections } = adapterOf(sendStream(messageStart() + textBlock(0, 'Hi')));
    const events = adapter.generate(callOf(promptRequest({}, { stream: true })));
    for await (const event of events) if (event.type === 'text') break;
    expect(connections[0]?.actions).toEqual(['abort']);
  });

  describe('errors', () => {
    const refuse = (status: number, body: unknown, request = promptRequest(), headers = {}) =>
      collectEvents(adapterOf(sendJson(body, status, headers)).adapter.generate(callOf(request)));
    const error = (message: string, type = 'invalid_request_error') => ({
      type: 'error',
      error: { type, message },
    });

    it('are classified from status, headers and body', async () => {
      const body = error('slow down', 'rate_limit_error');
      const refused = refuse(429, body, undefined, { 'retry-after': '2' });
      await expect(refused).rejects.toMatchObject({
        failure: 'rate_limited',
        status: 429,
        retryAfterMs: 2_000,
      });
    });

    it("use the caller's name for the field", async () => {
      const body = error('stop_sequences.0: too long');
      await expect(refuse(400, body)).rejects.toMatchObject({ failure: 'caller', param: 'stop' });
      await expect(refuse(400, body, messagesRequest(MESSAGES_BODY))).rejects.toMatchObject({
        param: 'stop_sequences.0',
      });
    });

    it('redact the key in any format', async () => {
      const body = error('Bad header secret-key-of-no-known-shape.');
      await expect(refuse(400, body)).rejects.toMatchObject({
        message: 'Bad header [redacted].',
      });
      const { adapter } = adapterOf(sendJson(body, 401));
      const signal = new AbortController().signal;
      await expect(adapter.probe({ limits: LONG_LIMITS, signal })).rejects.toMatchObject({
        failure: 'operator',
        message: 'Bad header [redacted].',
      });
      await expect(adapter.countTokens(callOf(promptRequest()))).rejects.toMatchObject({
        message: 'Bad header [redacted].',
      });
    });

    it('without an error object use the status', async () => {
      await expect(refuse(502, null)).rejects.toMatchObject({ failure: 'server' });
    });

    it('of the request itself make no calls', async () => {
      const { adapter, calls } = adapterOf(sendJson(answer));
      const events = adapter.generate(callOf(promptRequest({}, { choices: 2 })));
      await expect(collectEvents(events)).rejects.toMatchObject({
        failure: 'unsupported',
        param: 'n',
      });
      expect(calls).toHaveLength(0);
    });
  });

  it('probes with a short list of models', async () => {
    const { adapter, calls, connections } = adapterOf(sendJson({ data: [] }));
    await adapter.probe({ limits: LONG_LIMITS, signal: new AbortController().signal });
    expect(String(calls[0]?.url)).toBe('https://api.anthropic.com/v1/models?limit=1');
    expect(calls[0]).toMatchObject({
      method: 'GET',
      headers: { 'x-api-key': provider.apiKey, 'anthropic-version': '2023-06-01' },
    });
    expect(connections[0]?.actions).toEqual([]);
  });

  describe('counting tokens', () => {
    it('calls the vendor with the supported fields', async () => {
      const { adapter, calls } = adapterOf(sendJson({ input_tokens: 42 }));
      const request = messagesRequest({ ...MESSAGES_BODY, stream: true, top_k: 1, system: 'a' });
      expect(await adapter.countTokens(callOf(request))).toBe(42);
      expect(String(calls[0]?.url)).toBe('https://api.anthropic.com/v1/messages/count_tokens');
      expect(JSON.parse(String(calls[0]?.body))).toEqual({
        model: 'claude-haiku-4-5',
        messages: MESSAGES_BODY.messages,
        system: 'a',
      });
      expect(calls[0]?.headers.accept).toBe('application/json');
    });

    it('translates for callers of other dialects', async () => {
      const { adapter, calls } = adapterOf(sendJson({ input_tokens: 7 }));
      const request = promptRequest({ sampling: { temperature: 0 }, endUser: 'x' });
      expect(await adapter.countTokens(callOf(request))).toBe(7);
      expect(Object.keys(JSON.parse(String(calls[0]?.body)) as object)).toEqual([
        'model',
        'messages',
      ]);
    });

    it.each([{}, null, { input_tokens: '7' }, { input_tokens: -1 }])('rejects %j', async (body) => {
      const counted = adapterOf(sendJson(body)).adapter.countTokens(callOf(promptRequest()));
      await expect(counted).rejects.toMatchObject({ failure: 'unreadable' });
    });
  });

  it('lists dropped fields, depending on the model', () => {
    const { adapter } = adapterOf(() => undefined);
    const dropped = (upstreamModel: string, request: CanonicalRequest) =>
      adapter.droppedParams(request, { upstreamModel, maxOutputTokens: 4_096 });
    const request = promptRequest({ sampling: { temperature: 0.5, seed: 1 } });
    expect(dropped('claude-haiku-4-5', request)).toEqual(['seed']);
    expect(dropped('claude-opus-5-5', request)).toEqual(['seed', 'temperature']);
    expect(dropped('claude-opus-5-5', messagesRequest(MESSAGES_BODY))).toEqual([]);
  });

  it('hangs up when the caller disconnects', async () => {
    const aborter = new AbortController();
    const { adapter, connections } = adapterOf(() => undefined);
    const collecting = collectEvents(adapter.generate(callOf(promptRequest(), aborter.signal)));
    aborter.abort();
    await expect(collecting).rejects.toBeInstanceOf(CallAbortedError);
    expect(connections[0]?.actions).toEqual(['abort']);
  });
});
