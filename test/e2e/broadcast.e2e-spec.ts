import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { GROUP_LIMITS } from '../../src/features/broadcast/broadcast-limits.js';
import { bootWithBroadcast, OPT_IN, type BroadcastSetUp } from '../support/boot-with-broadcast.js';
import { errorAnswer, politeAnswer } from '../support/fake-openai.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { silentWave } from '../support/spoken-audio.js';
import { until } from '../support/until.js';

// A machine that stalls for two seconds loses the prepared credits, and a request would be rejected.
jest.retryTimes(2);

const CHAIN = { models: ['one/a', 'other/b'] };
const USER = { role: 'user', content: 'the secret prompt' };
const CLIENT = 3;
const ERROR = 2;

type Json = Record<string, unknown>;

/** Each dialect with a body whose model chain has a failing and a working vendor. */
const DIALECTS: [endpoint: string, path: string, body: Json][] = [
  ['chat', '/v1/chat/completions', { ...CHAIN, messages: [USER], temperature: 0.5, max_tokens: 9 }],
  [
    'messages',
    '/v1/anthropic/messages',
    { ...CHAIN, messages: [USER], temperature: 0.5, max_tokens: 9 },
  ],
  [
    'responses',
    '/v1/responses',
    { ...CHAIN, input: 'the secret prompt', temperature: 0.5, max_output_tokens: 9 },
  ],
];

describe('trace broadcast', () => {
  let setUp: BroadcastSetUp;

  beforeAll(async () => {
    setUp = await bootWithBroadcast();
  });
  afterEach(async () => {
    await setUp.clear();
    setUp.one.answer = errorAnswer(500);
    setUp.other.answer = politeAnswer({ text: 'From b.' });
    for (const fake of [setUp.one, setUp.other]) fake.calls.length = 0;
    setUp.receiver.deliveries.length = 0;
    expect(await findLedgerFaults(setUp.gateway.database)).toEqual([]);
  });
  afterAll(() => setUp.close());

  const ask = async (path: string, body: object, headers: Record<string, string> = OPT_IN) => {
    const response = await setUp.gateway.post(path, body, headers);
    const text = await response.text();
    return { status: response.status, text, id: response.headers.get('x-request-id')! };
  };
  const chat = (fields: object = {}, headers: Record<string, string> = OPT_IN) =>
    ask('/v1/chat/completions', { model: 'other/b', messages: [USER], ...fields }, headers);

  describe.each(DIALECTS)('%s', (endpoint, path, body) => {
    it.each([false, true])('traces a request and its fallback (stream: %s)', async (stream) => {
      await setUp.send();
      const trace = { trace_name: 'my step', priority: 'high', session_id: 's-1', depth: 3 };
      const { status, id } = await ask(
        path,
        { ...body, stream, trace },
        { ...OPT_IN, 'x-gateway-tags': 'team=a' },
      );
      expect(status).toBe(200);

      const [root, first, second, third, ...others] = await setUp.receiver.traceOf(id);
      expect(others).toEqual([]);
      expect(root).toMatchObject({
        name: 'my step',
        kind: CLIENT,
        parentSpanId: undefined,
        status: { code: 0 },
        resource: { 'service.name': 'model-gateway' },
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.system': 'other',
          'gen_ai.provider.name': 'other',
          'gen_ai.request.model': 'one/a',
          'gen_ai.response.model': 'other/b',
          'gen_ai.request.temperature': 0.5,
          'gen_ai.request.max_tokens': 9,
          'gen_ai.request.stream': stream,
          'gen_ai.response.finish_reasons': ['stop'],
          'gen_ai.usage.input_tokens': 10,
          'gen_ai.usage.output_tokens': 5,
          'gateway.cost.credits': 20,
          'gateway.endpoint': endpoint,
          'gateway.outcome': 'completed',
          'gateway.cache': 'miss',
          'gateway.attempts': 3,
          'gateway.trace.trace_name': 'my step',
          'gateway.trace.priority': 'high',
          'gateway.trace.depth': 3,
          'session.id': 's-1',
          'gateway.tag.team': 'a',
        },
      });
      expect('gen_ai.response.time_to_first_chunk' in root!.attributes).toBe(stream);
      for (const failed of [first, second]) {
        expect(failed).toMatchObject({
          name: 'attempt one/a via one',
          kind: CLIENT,
          status: { code: ERROR, message: 'server' },
          attributes: { 'error.type': 'server', 'http.response.status_code': 500 },
        });
      }
      expect(third).toMatchObject({
        name: 'attempt other/b via other',
        status: { code: 0 },
        attributes: { 'gateway.attempt.outcome': 'answered', 'gateway.attempt.number': 3 },
      });
      for (const child of [first!, second!, third!]) {
        expect(child.traceId).toBe(root!.traceId);
        expect(child.attributes).not.toHaveProperty(['gen_ai.usage.input_tokens']);
      }
      for (const { rawBody } of setUp.other.calls) expect(rawBody).not.toContain('my step');
      for (const { text } of setUp.receiver.deliveries) {
        expect(text).not.toContain('secret prompt');
        expect(text).not.toContain('From b.');
        expect(text).not.toContain(setUp.gateway.apiKey);
        expect(text).not.toContain(setUp.gateway.tenantId);
      }
    });

    it.each([false, true])(
      'includes content when the destination requests it (stream: %s)',
      async (stream) => {
        await setUp.send({ include_content: true });
        const { id } = await ask(path, { ...body, stream });
        const [root] = await setUp.receiver.traceOf(id);
        const { attributes } = root!;
        expect(root!.name).toBe('chat one/a');
        expect(JSON.parse(attributes['gen_ai.input.messages'] as string)).toEqual([
          { role: 'user', parts: [{ type: 'text', content: 'the secret prompt' }] },
        ]);
        expect(JSON.parse(attributes['gen_ai.output.messages'] as string)).toMatchObject([
          { role: 'assistant', parts: [{ type: 'text', content: 'From b.' }] },
        ]);
      },
    );
  });

  it('traces embeddings, speech and transcriptions', async () => {
    await setUp.send();
    const embedded = await ask('/v1/embeddings', { model: 'sandbox/embed', input: 'one two' });
    const [embeddings] = await setUp.receiver.traceOf(embedded.id);
    expect(embeddings).toMatchObject({
      name: 'embeddings sandbox/embed',
      attributes: { 'gen_ai.operation.name': 'embeddings', 'gateway.cache': 'miss' },
    });
    const spoken = await ask('/v1/audio/speech', {
      model: 'sandbox/speech',
      input: 'one two',
      voice: 'alloy',
    });
    const [speech] = await setUp.receiver.traceOf(spoken.id);
    expect(speech!.attributes).toMatchObject({
      'gen_ai.operation.name': 'speech',
      'gen_ai.output.type': 'speech',
    });
    const form = new FormData();
    form.set('model', 'sandbox/transcribe');
    form.set('trace', '{"trace_name":"a form"}');
    form.set('file', new Blob([new Uint8Array(silentWave(1))]), 'a.wav');
    const written = await setUp.gateway.fetch('/v1/audio/transcriptions', {
      method: 'POST',
      headers: OPT_IN,
      body: form,
    });
    await written.text();
    expect(written.status).toBe(200);
    const id = written.headers.get('x-request-id')!;
    const [transcription] = await setUp.receiver.traceOf(id);
    expect(transcription).toMatchObject({
      name: 'a form',
      attributes: { 'gen_ai.operation.name': 'transcription' },
    });
    expect(transcription!.attributes).not.toHaveProperty(['gen_ai.output.messages']);
  });

  it('includes the transcript when the destination requests content', async () => {
    await setUp.send({ include_content: true });
    const form = new FormData();
    form.set('model', 'sandbox/transcribe');
    form.set('response_format', 'srt');
    form.set('file', new Blob([new Uint8Array(silentWave(1))]), 'a.wav');
    const written = await setUp.gateway.fetch('/v1/audio/transcriptions', {
      method: 'POST',
      headers: OPT_IN,
      body: form,
    });
    const content = /Sandbox transcript .*/.exec(await written.text())![0];
    const [root] = await setUp.receiver.traceOf(written.headers.get('x-request-id')!);
    expect(JSON.parse(root!.attributes['gen_ai.output.messages'] as string)).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content }], finish_reason: 'stop' },
    ]);
  });

  it('traces failed and rejected requests', async () => {
    await setUp.send();
    setUp.other.answer = errorAnswer(400, { message: 'bad' });
    const failed = await chat();
    expect(failed.status).toBe(400);
    const [root, attempt] = await setUp.receiver.traceOf(failed.id);
    expect(root).toMatchObject({
      status: { code: ERROR, message: 'invalid_request_error' },
      attributes: { 'error.type': 'invalid_request_error', 'gateway.cost.credits': 0 },
    });
    expect(attempt).toMatchObject({ status: { code: ERROR, message: 'caller' } });

    await setUp.gateway.post('/v1/customer/guardrails', {
      name: 'words',
      rules: [{ type: 'keyword', words: ['secret'] }],
    });
    let refused = failed;
    await until(async () => (refused = await chat()).status === 403);
    const [blocked, ...attempts] = await setUp.receiver.traceOf(refused.id);
    expect(attempts).toEqual([]);
    expect(blocked!.attributes).toMatchObject({
      'gateway.outcome': 'refused',
      'gateway.guardrail.actions': ['block:input'],
    });
    const { data } = (await (await setUp.gateway.fetch('/v1/customer/guardrails')).json()) as {
      data: { id: string }[];
    };
    for (const { id } of data) {
      await setUp.gateway.fetch(`/v1/customer/guardrails/${id}`, { method: 'DELETE' });
    }
  });

  it('traces a cached answer without attempts', async () => {
    await setUp.send();
    const cached = { ...OPT_IN, 'x-gateway-cache': '60' };
    const messages = [{ role: 'user', content: 'asked twice' }];
    const [miss, hit] = [await chat({ messages }, cached), await chat({ messages }, cached)];
    expect(setUp.other.calls).toHaveLength(1);
    const [first] = await setUp.receiver.traceOf(miss.id);
    expect(first!.attributes).toMatchObject({ 'gateway.cache': 'miss', 'gateway.attempts': 1 });
    const [second, ...attempts] = await setUp.receiver.traceOf(hit.id);
    expect(second!.attributes).toMatchObject({
      'gateway.cache': 'hit',
      'gateway.outcome': 'completed',
      'gen_ai.response.model': 'other/b',
      'gen_ai.response.finish_reasons': ['stop'],
    });
    expect(attempts).toEqual([]);
  });

  it('traces a BYOK account without naming it', async () => {
    await setUp.send({ include_content: true });
    const made = await setUp.gateway.post('/v1/customer/provider-credentials', {
      provider: 'other',
      name: 'account of the day',
      key: 'tenant-key-of-their-own',
    });
    const credential = (await made.json()) as { id: string; key_preview: string };
    expect(made.status).toBe(201);
    try {
      const { id } = await chat();
      const [root] = await setUp.receiver.traceOf(id);
      expect(root!.attributes).toMatchObject({ 'gateway.traffic_mode': 'byok' });
      const told = JSON.stringify(setUp.receiver.deliveries.map(({ text }) => text));
      for (const secret of [
        'account of the day',
        'tenant-key',
        credential.id,
        credential.key_preview,
      ]) {
        expect(told).not.toContain(secret);
      }
    } finally {
      const path = `/v1/customer/provider-credentials/${credential.id}`;
      await setUp.gateway.fetch(path, { method: 'DELETE' });
    }
  });

  it("continues the caller's trace", async () => {
    await setUp.send();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const { id } = await chat(
      {},
      { ...OPT_IN, traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'vendor=1' },
    );
    const [root, child] = await setUp.receiver.traceOf(id);
    expect(root).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
    expect(root!.traceState).toBe('vendor=1');
    expect(child!.traceId).toBe(traceId);
  });

  it('sends nothing without the header, for another tenant or to a disabled destination', async () => {
    await setUp.send({ enabled: false });
    const unsent = [
      await chat(),
      await chat({}, {}),
      await chat({}, { 'x-gateway-broadcast': 'false' }),
    ];
    await setUp.send();
    const sent = await chat();
    await setUp.receiver.traceOf(sent.id);
    for (const { id } of unsent) expect(setUp.receiver.requestIds()).not.toContain(id);
  });

  it.each([
    [0, [false, false]],
    [0.5, [true, false]],
    [1, [true, true]],
  ])('samples by trace id at the rate %s', async (rate, [isHighSent, isLowSent]) => {
    await setUp.send({ sampling_rate: rate });
    const parentOf = (random: string) => `00-${'a'.repeat(18)}${random}-b7ad6b7169203331-01`;
    const high = await chat({}, { ...OPT_IN, traceparent: parentOf('ffffffffffffff') });
    const low = await chat({}, { ...OPT_IN, traceparent: parentOf('00000000000001') });
    await setUp.send();
    await setUp.receiver.traceOf((await chat()).id);
    for (const [{ id }, isSent] of [
      [high, isHighSent],
      [low, isLowSent],
    ] as const) {
      if (isSent) await setUp.receiver.traceOf(id);
    }
    if (!isHighSent || !isLowSent) await wait(300);
    expect(setUp.receiver.requestIds().includes(high.id)).toBe(isHighSent);
    expect(setUp.receiver.requestIds().includes(low.id)).toBe(isLowSent);
  });

  it("batches traces, each sent once, with the destination's headers", async () => {
    jest.replaceProperty(GROUP_LIMITS, 'maxAgeMs', 1_000);
    const id = await setUp.send({ headers: { 'X-Api-Key': 'collector-key' } });
    const asked = await Promise.all(Array.from({ length: 60 }, () => chat()));
    for (const { id: requestId } of asked) await setUp.receiver.traceOf(requestId);
    const { deliveries } = setUp.receiver;
    expect(deliveries.length).toBeLessThan(30);
    const roots = deliveries.flatMap(({ spans }) =>
      spans.filter(({ attributes }) => 'gateway.request.id' in attributes),
    );
    expect(roots).toHaveLength(60);
    for (const { headers } of deliveries) {
      expect(headers['x-api-key']).toBe('collector-key');
      expect(headers['content-type']).toBe('application/json');
    }
    const keys = deliveries.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(deliveries.length);
    await until(async () => Number((await setUp.destination(id)).pending_count) === 0);
    const { delivered_count, dropped_count, pending_count, last_success_at } =
      await setUp.destination(id);
    expect([delivered_count, dropped_count, pending_count]).toEqual([60, 0, 0]);
    expect(last_success_at).toEqual(expect.any(String));
    const metrics = await (await fetch(`${setUp.gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/^gateway_broadcast_delivered_total [1-9]/m);
  });

  it.each([
    ['is too large', { note: 'x'.repeat(100_000) }, 'trace'],
    ['is no object', 'text', 'trace'],
    ['is a list', ['text'], 'trace'],
    ['has a name that is no text', { trace_name: 1 }, 'trace.trace_name'],
    ['has a priority that is no text', { priority: ['high'] }, 'trace.priority'],
  ])('returns 400 when the trace object %s', async (_name, trace, param) => {
    const { status, text } = await chat({ trace }, {});
    expect(status).toBe(400);
    expect((JSON.parse(text) as { error: { param: string } }).error.param).toBe(param);
    expect(setUp.other.calls).toHaveLength(0);
  });

  it.each([50, 5_000, 50_000])('handles a trace object of %s levels', async (levels) => {
    await setUp.send();
    const body = `{"model":"other/b","messages":[${JSON.stringify(USER)}],"trace":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    const response = await setUp.gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...OPT_IN },
      body,
    });
    await response.text();
    expect(response.status).toBe(levels === 50 ? 200 : 400);
    if (response.ok) await setUp.receiver.traceOf(response.headers.get('x-request-id')!);
  });
});
