import { describe, expect, it } from '@jest/globals';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { embeddingRequest } from '../../../test/support/embedding-requests.js';
import { responsesRequest } from '../../../test/support/responses-requests.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import {
  collectEvents,
  drivenTransport,
  sendJson,
} from '../../../test/support/driven-transport.js';
import { FakeConnection, LONG_LIMITS } from '../../../test/support/fake-connection.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { OpenAiAdapter } from './openai.adapter.js';
import {
  provider,
  answer,
  chunk,
  ROUTE,
  generate,
  SSE,
} from '../../../test/support/openai-adapter-calls.js';

describe(OpenAiAdapter.name, () => {
  it('sends one authenticated request with the encoded body', async () => {
    const { events, calls } = generate(sendJson(answer), { provider: {}, temperature: 0 });
    expect(calls).toHaveLength(0); // nothing before the first pull
    await collectEvents(events);
    expect(calls).toHaveLength(1);
    const [call] = calls;
    expect(String(call?.url)).toBe('https://api.openai.com/v1/chat/completions');
    expect(call).toMatchObject({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: 'Bearer secret-key-of-no-known-shape',
      },
      limits: LONG_LIMITS,
    });
    expect(JSON.parse(String(call?.body))).toEqual({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0,
    });
  });

  it('keeps unchecked media URLs from a compatible server', async () => {
    const part = { type: 'image_url', image_url: { url: 'http://10.0.0.1/a.png' } };
    const fields = { messages: [{ role: 'user', content: [part] }] };
    const own = generate(sendJson(answer), fields, { baseUrl: 'http://10.0.0.2:8000/v1' });
    await expect(collectEvents(own.events)).rejects.toMatchObject({ param: 'messages' });
    expect(own.calls).toHaveLength(0);
    const vendors = generate(sendJson(answer), fields);
    await collectEvents(vendors.events);
    expect(vendors.calls).toHaveLength(1);
  });

  it('sends no authorization without a key', async () => {
    const { events, calls } = generate(sendJson(answer), {}, { apiKey: undefined });
    await collectEvents(events);
    expect(calls[0]?.headers).not.toHaveProperty('authorization');
  });

  it('relays a whole answer under the alias', async () => {
    const { events } = generate(sendJson(answer));
    expect(await collectEvents(events)).toMatchObject([
      { type: 'start', id: 'x' },
      { type: 'relay', bytes: Buffer.from(JSON.stringify({ ...answer, model: 'openai/gpt-4o' })) },
    ]);
  });

  describe('streaming', () => {
    it('relays events as they arrive and releases the connection after [DONE]', async () => {
      const { events, calls, connections } = generate((it) => void it.answer(200, SSE), {
        stream: true,
      });
      const iterator = events[Symbol.asyncIterator]();
      const first = iterator.next();
      await Promise.resolve();
      connections[0]?.send(chunk({ role: 'assistant', content: '' }));
      expect((await first).value).toEqual({ type: 'start', id: 'x' });
      expect((await iterator.next()).value).toMatchObject({ type: 'relay', hasContent: false });
      const text = iterator.next();
      connections[0]?.send(chunk({ content: 'Hi' }));
      expect((await text).value).toMatchObject({ type: 'relay', hasContent: true });
      const end = iterator.next();
      connections[0]?.send(chunk({}, 'stop') + 'data: [DONE]\n\n');
      expect((await end).value).toMatchObject({ type: 'relay', finishReason: 'stop' });
      expect((await iterator.next()).done).toBe(true);
      expect(connections[0]?.actions).toEqual([]);
      connections[0]?.end();
      expect(calls[0]?.headers.accept).toBe('text/event-stream');
    });

    it.each(['Text/Event-Stream', 'text/event-stream;charset=UTF-8'])(
      'accepts content-type %s',
      async (type) => {
        const stream = chunk({ content: 'Hi' }) + chunk({}, 'stop');
        const { events } = generate(
          (it) => void it.answer(200, { 'content-type': type }).send(stream).end(),
          { stream: true },
        );
        expect(await collectEvents(events)).toHaveLength(2);
      },
    );

    it.each([undefined, 'text/plain', 'text/html'])(
      'closes the connection on content-type %s',
      async (type) => {
        const headers = type === undefined ? {} : { 'content-type': type };
        const { events, connections } = generate((it) => void it.answer(200, headers).send('x'), {
          stream: true,
        });
        await expect(collectEvents(events)).rejects.toMatchObject({ failure: 'unreadable' });
        expect(connections[0]?.actions).toEqual(['abort']);
      },
    );

    it('fails at an error chunk at once, after the events before it', async () => {
      const error = { error: { message: 'overloaded', code: 503 } };
      const { events, connections } = generate(
        (it) =>
          void it
            .answer(200, SSE)
            .send(chunk({ content: 'Hi' }) + `data: ${JSON.stringify(error)}\n\n`),
        { stream: true },
      );
      const seen: string[] = [];
      const failing = (async () => {
        for await (const event of events) seen.push(event.type);
      })();
      await expect(failing).rejects.toMatchObject({ failure: 'server', status: 503 });
      expect(seen).toEqual(['start', 'relay']);
      expect(connections[0]?.actions).toEqual(['abort']);
    });

    it.each<[string, (connection: FakeConnection) => void, object]>([
      ['ends early', (it) => void it.end(), { failure: 'cut' }],
      ['is reset', (it) => void it.fail('ECONNRESET'), { failure: 'reset' }],
    ])('fails when the stream %s', async (_, finish, failure) => {
      const { events } = generate(
        (it) => {
          it.answer(200, SSE).send(chunk({ content: 'Hi' }));
          finish(it);
        },
        { stream: true },
      );
      await expect(collectEvents(events)).rejects.toMatchObject(failure);
    });

    it('closes the connection when its reader leaves', async () => {
      const { events, connections } = generate(
        (it) => void it.answer(200, SSE).send(chunk({ content: 'Hi' })),
        { stream: true },
      );
      for await (const event of events) if (event.type === 'relay') break;
      expect(connections[0]?.actions).toEqual(['abort']);
    });

    it('sends the usage chunk to callers who requested it', async () => {
      const usage = { prompt_tokens: 1, completion_tokens: 2 };
      const stream =
        chunk({ content: 'Hi' }, 'stop') +
        `data: ${JSON.stringify({ id: 'x', model: 'gpt', choices: [], usage })}\n\ndata: [DONE]\n\n`;
      const run = (include_usage: boolean) =>
        collectEvents(
          generate((it) => void it.answer(200, SSE).send(stream), {
            stream: true,
            stream_options: { include_usage },
          }).events,
        );
      expect((await run(true)).at(-1)).toMatchObject({ type: 'relay', usage: { outputTokens: 2 } });
      expect((await run(false)).at(-1)).toMatchObject({ type: 'usage' });
    });
  });

  describe('errors', () => {
    const refuse = (status: number, body: unknown, headers = {}) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return collectEvents(
        generate((it) => void it.answer(status, headers).send(text).end()).events,
      );
    };

    it('are classified from status, headers and body', async () => {
      await expect(
        refuse(429, { error: { message: 'slow down' } }, { 'retry-after': '2' }),
      ).rejects.toMatchObject({
        failure: 'rate_limited',
        status: 429,
        message: 'slow down',
        retryAfterMs: 2_000,
      });
    });

    it.each(['<html>502</html>', '', 'null'])('with body %j use the status', async (body) => {
      await expect(refuse(502, body)).rejects.toMatchObject({ failure: 'server', status: 502 });
    });

    it('that echo a whole prompt use the status', async () => {
      const echo = { error: { message: 'x'.repeat(300_000) } };
      await expect(refuse(400, echo)).rejects.toMatchObject({ failure: 'caller', status: 400 });
    });

    it('with an interrupted body use the status', async () => {
      const { events } = generate((it) => void it.answer(401).send('{"err').fail('ECONNRESET'));
      await expect(collectEvents(events)).rejects.toMatchObject({
        failure: 'operator',
        status: 401,
      });
    });

    it('redact the key in any format', async () => {
      const message = 'Invalid token: secret-key-of-no-known-shape.';
      await expect(refuse(400, { error: { message } })).rejects.toMatchObject({
        message: 'Invalid token: [redacted].',
      });
    });

    it('keep words that equal a placeholder key', async () => {
      const { events } = generate(
        (it) => void it.answer(400).send('{"error":{"message":"x is none"}}').end(),
        {},
        { apiKey: 'none' },
      );
      await expect(collectEvents(events)).rejects.toThrow('x is none');
    });

    it('include an invalid answer', async () => {
      await expect(collectEvents(generate(sendJson({})).events)).rejects.toMatchObject({
        failure: 'unreadable',
      });
    });
  });

  it.each<[unknown, string[]]>([
    [undefined, []],
    [null, []],
    [{ effort: 'low' }, []],
    [{ effort: 'low', max_tokens: 5, exclude: null }, ['reasoning.max_tokens']],
    [{ max_tokens: 0, exclude: false }, ['reasoning.max_tokens', 'reasoning.exclude']],
    [{ 'a\r\nset-cookie: b': 1, 日本: 2, '': 3 }, ['reasoning']],
  ])(
    'lists the members of reasoning %j without a counterpart, valid in a header',
    (reasoning, names) => {
      const adapter = new OpenAiAdapter(provider, drivenTransport(() => undefined).transport);
      expect(adapter.droppedParams(chatRequest({ reasoning }), ROUTE)).toEqual(names);
    },
  );

  it("lists a prediction that conflicts with the gateway's own limit", () => {
    const adapter = new OpenAiAdapter(provider, drivenTransport(() => undefined).transport);
    const request = chatRequest({ prediction: { type: 'content', content: 'a' } });
    expect(adapter.droppedParams(request, { ...ROUTE, ownOutputLimit: 70 })).toEqual([
      'prediction',
    ]);
    expect(adapter.droppedParams(request, ROUTE)).toEqual([]);
  });

  describe('undocumented fields', () => {
    const compatible = { id: 'local', knownFieldsOnly: true };
    const unknown = { best_of: 20, 'a\r\nb': 1, echo: null };
    const droppedBy = (overrides: object, request: CanonicalRequest) =>
      new OpenAiAdapter(
        { ...provider, ...overrides },
        drivenTransport(() => undefined).transport,
      ).droppedParams(request, ROUTE);

    it('are dropped and reported for servers limited to known fields', async () => {
      const known = { top_k: 4, min_p: 0.1, verbosity: 'low', reasoning_effort: 'low' };
      const request = chatRequest({ ...known, ...unknown, models: ['c/d'], provider: {} });
      const { events, calls } = generate(sendJson(answer), {}, { ...compatible, request });
      await collectEvents(events);
      expect(JSON.parse(String(calls[0]?.body))).toEqual({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: 'Hi' }],
        ...known,
      });
      expect(droppedBy(compatible, request)).toEqual(['best_of', 'unknown']);
    });

    it('are dropped from Responses bodies too', async () => {
      const settings = { responses: 'true' };
      const request = responsesRequest({ ...unknown, truncation: 'auto', metadata: { a: 'b' } });
      const response = { id: 'r', status: 'completed', model: 'gpt', output: [] };
      const overrides = { ...compatible, settings, request };
      const { events, calls } = generate(sendJson(response), {}, overrides);
      await collectEvents(events);
      expect(JSON.parse(String(calls[0]?.body))).toEqual({
        model: 'gpt-4o-mini',
        input: 'Hi',
        truncation: 'auto',
        store: false,
      });
      expect(droppedBy({ ...compatible, settings }, request)).toEqual(['best_of', 'unknown']);
    });

    it('are dropped from embeddings bodies too', async () => {
      const { transport, calls } = drivenTransport(
        sendJson({ data: [{ index: 0, embedding: [1] }] }),
      );
      const work = new OpenAiAdapter({ ...provider, ...compatible }, transport).embed({
        request: embeddingRequest({ ...unknown, dimensions: 1, models: [] }),
        alias: 'a/vectors',
        upstreamModel: 'vectors',
        limits: LONG_LIMITS,
        signal: new AbortController().signal,
      });
      for await (const _event of work.events);
      expect(JSON.parse(String(calls[0]?.body))).toEqual({
        model: 'vectors',
        input: 'Hi',
        dimensions: 1,
      });
      expect(work.droppedParams).toEqual(['best_of', 'unknown']);
    });

    it('reach OpenAI itself, and servers that allow them', async () => {
      for (const overrides of [{}, { id: 'local', knownFieldsOnly: false }]) {
        const { events, calls } = generate(sendJson(answer), { best_of: 20 }, overrides);
        await collectEvents(events);
        expect(JSON.parse(String(calls[0]?.body))).toMatchObject({ best_of: 20 });
        expect(droppedBy(overrides, chatRequest({ best_of: 20 }))).toEqual([]);
      }
    });
  });

  it('makes no call after its caller left, and hangs up when the caller leaves', async () => {
    const aborted = generate(sendJson(answer), {}, { signal: AbortSignal.abort() });
    await expect(collectEvents(aborted.events)).rejects.toBeInstanceOf(CallAbortedError);

    const aborter = new AbortController();
    const leaving = generate(() => undefined, {}, { signal: aborter.signal });
    const collecting = collectEvents(leaving.events);
    aborter.abort();
    await expect(collecting).rejects.toBeInstanceOf(CallAbortedError);
    expect(leaving.connections[0]?.actions).toEqual(['abort']);
  });

  it('hangs up when the caller leaves while an error is read', async () => {
    const aborter = new AbortController();
    const { events } = generate((it) => void it.answer(500), {}, { signal: aborter.signal });
    const collecting = collectEvents(events);
    await new Promise((resolve) => setImmediate(resolve));
    aborter.abort();
    await expect(collecting).rejects.toBeInstanceOf(CallAbortedError);
  });
});
