import { describe, expect, it } from '@jest/globals';
import {
  bedrockVendor,
  CREDENTIALS,
  eventMessage,
} from '../../../test/contract/vendors/bedrock.vendor.js';
import type { Reply, ScriptedAnswer } from '../../../test/contract/contract-vendor.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import {
  collectEvents,
  drivenTransport,
  type Drive,
} from '../../../test/support/driven-transport.js';
import { LONG_LIMITS } from '../../../test/support/fake-connection.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import type { AdapterTools } from '../vendor.js';
import { BedrockAdapter } from './bedrock.adapter.js';

const { accessKeyId, secretAccessKey, sessionToken } = CREDENTIALS;
const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

const answer: ScriptedAnswer = {
  text: 'Grüße, 🌍!',
  finish: 'stop',
  usage: { input: 10, output: 5, cacheRead: 4 },
};

function adapterWith(drive: Drive, overrides: Partial<ProviderConfig> = {}) {
  const fetched: string[] = [];
  const { transport, calls, connections } = drivenTransport(drive);
  const mediaFetcher = {
    fetch: async (url: string) => {
      fetched.push(url);
      return { mediaType: 'image/png', data: Buffer.from('pixels') };
    },
  };
  const provider: ProviderConfig = {
    id: 'bedrock',
    name: 'AWS Bedrock',
    adapter: 'bedrock',
    type: 'aws',
    baseUrl: '',
    apiKey: secretAccessKey,
    settings: { accessKeyId, sessionToken, region: 'eu-central-1' },
    ...overrides,
  };
  const tools = { transport, mediaFetcher } as unknown as AdapterTools;
  return { adapter: new BedrockAdapter(provider, tools), calls, connections, fetched };
}

function generate(
  drive: Drive,
  fields: Record<string, unknown> = {},
  overrides: Partial<ProviderConfig> & {
    signal?: AbortSignal;
    model?: string;
    betas?: string;
  } = {},
) {
  const { signal = new AbortController().signal, model = MODEL, betas, ...provider } = overrides;
  const { adapter, ...rest } = adapterWith(drive, provider);
  const events = adapter.generate({
    request: chatRequest(fields),
    alias: 'bedrock/x',
    upstreamModel: model,
    limits: LONG_LIMITS,
    maxOutputTokens: 321,
    signal,
    ...(betas !== undefined && { vendorHeaders: { 'anthropic-beta': betas } }),
  });
  return { events, ...rest };
}

const send =
  ({ status, headers, body }: Reply): Drive =>
  (connection) =>
    void connection.answer(status, headers).send(body).end();
const whole = send(bedrockVendor.whole(answer));
const streamed = bedrockVendor.stream(answer);
const text = (events: CanonicalEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');

describe(BedrockAdapter.name, () => {
  it('sends one signed request, at the first pull', async () => {
    const { events, calls } = generate(whole, { temperature: 0 });
    expect(calls).toHaveLength(0);
    await collectEvents(events);
    const [call] = calls;
    expect(calls).toHaveLength(1);
    expect(call!.url.href).toBe(
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
    );
    expect(call!.headers).toMatchObject({
      'content-type': 'application/json',
      host: 'bedrock-runtime.eu-central-1.amazonaws.com',
      'x-amz-security-token': sessionToken,
      authorization: expect.stringMatching(
        new RegExp(
          `^AWS4-HMAC-SHA256 Credential=${accessKeyId}/\\d{8}/eu-central-1/bedrock/aws4_request, `,
        ),
      ),
    });
    expect(JSON.parse(call!.body!.toString())).toMatchObject({
      inferenceConfig: { maxTokens: 321, temperature: 0 },
    });
    expect(JSON.stringify([call!.headers, call!.body!.toString()])).not.toContain(secretAccessKey);
  });

  it('sends supported betas only to Claude', async () => {
    const names = 'claude-code-20250219,interleaved-thinking-2025-05-14,files-api-2025-04-14';
    const fieldsOf = async (model: string | undefined, betas?: string): Promise<unknown> => {
      const { events, calls } = generate(whole, {}, { ...(model && { model }), betas });
      await collectEvents(events);
      const body = JSON.parse(calls[0]!.body!.toString()) as Record<string, unknown>;
      return body.additionalModelRequestFields;
    };
    expect(await fieldsOf(undefined, names)).toEqual({
      anthropic_beta: ['interleaved-thinking-2025-05-14'],
    });
    expect(await fieldsOf(undefined, 'claude-code-20250219')).toBeUndefined();
    expect(await fieldsOf('amazon.nova-pro-v1:0', names)).toBeUndefined();
  });

  it('uses the configured address, streaming or not', async () => {
    const { events, calls } = generate(
      send(streamed),
      { stream: true },
      { baseUrl: 'http://127.0.0.1:8080/aws', model: 'a/b:c' },
    );
    await collectEvents(events);
    expect(calls[0]!.url.href).toBe('http://127.0.0.1:8080/aws/model/a%2Fb%3Ac/converse-stream');
  });

  it('reads whole and streamed answers alike', async () => {
    const [fromWhole, fromStream] = await Promise.all([
      collectEvents(generate(whole).events),
      collectEvents(generate(send(streamed), { stream: true }).events),
    ]);
    for (const events of [fromWhole, fromStream]) {
      expect(text(events)).toBe(answer.text);
      expect(events).toContainEqual({ type: 'finish', choice: 0, reason: 'stop' });
      expect(events.at(-1)).toMatchObject({
        type: 'usage',
        usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 },
      });
    }
  });

  it('turns the answer of a forced tool back into text', async () => {
    const called = {
      toolCalls: [{ id: 'a', name: 'answer_in_json', arguments: '{"a":1}' }],
      finish: 'tool_calls' as const,
      usage: answer.usage,
    };
    const fields = { response_format: { type: 'json_object' } };
    const { events, calls } = generate(send(bedrockVendor.whole(called)), fields);
    const collected = await collectEvents(events);
    expect(JSON.parse(calls[0]!.body!.toString())).toMatchObject({
      toolConfig: { toolChoice: { tool: { name: 'answer_in_json' } } },
    });
    expect(text(collected)).toBe('{"a":1}');
    expect(collected).toContainEqual({ type: 'finish', choice: 0, reason: 'stop' });
  });

  it('fetches images by URL only after the request has been validated', async () => {
    const image_url = { url: 'https://example.com/a.png' };
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url }] }];
    const { events, calls, fetched } = generate(whole, { messages });
    await collectEvents(events);
    expect(fetched).toEqual([image_url.url]);
    expect(calls[0]!.body!.toString()).toContain(Buffer.from('pixels').toString('base64'));

    const refused = generate(whole, { messages, n: 2 });
    await expect(collectEvents(refused.events)).rejects.toMatchObject({
      failure: 'unsupported',
      param: 'n',
    });
    expect([refused.fetched, refused.calls]).toEqual([[], []]);
  });

  it.each([
    ['rate_limited', 'rate_limited'],
    ['overloaded', 'server'],
    ['server', 'server'],
    ['bad_request', 'caller'],
    ['context_length', 'context_length'],
    ['bad_key', 'operator'],
  ] as const)('classifies %s', async (kind, failure) => {
    for (const stream of [false, true]) {
      const { events } = generate(send(bedrockVendor.failure(kind)), { stream });
      await expect(collectEvents(events)).rejects.toMatchObject({ failure });
    }
  });

  it('uses the status when a failure is not from the vendor', async () => {
    const page = {
      status: 502,
      headers: { 'content-type': 'text/html' },
      body: Buffer.from('<h1>'),
    };
    await expect(collectEvents(generate(send(page)).events)).rejects.toMatchObject({
      failure: 'server',
    });
  });

  it('yields the events before a failure in the stream', async () => {
    const { events } = generate(send(bedrockVendor.streamFailure!('So far')), { stream: true });
    const seen: CanonicalEvent[] = [];
    const reading = (async () => {
      for await (const event of events) seen.push(event);
    })();
    await expect(reading).rejects.toMatchObject({ failure: 'server' });
    expect(text(seen)).toBe('So far');
  });

  it.each<[string, Reply]>([
    ['JSON', bedrockVendor.whole(answer)],
    ['no type', { status: 200, headers: {}, body: streamed.body }],
  ])('rejects a stream of %s', async (_what, reply) => {
    const { events, connections } = generate(send(reply), { stream: true });
    await expect(collectEvents(events)).rejects.toMatchObject({ failure: 'unreadable' });
    expect(connections).toHaveLength(1);
  });

  it('gives up on an endless signature', async () => {
    const signature = 'x'.repeat(9_000_000);
    const delta = { contentBlockIndex: 0, delta: { reasoningContent: { signature } } };
    const piece = eventMessage('contentBlockDelta', delta);
    const body = Buffer.concat(Array<Buffer>(15).fill(piece));
    const { events } = generate(send({ ...streamed, body }), { stream: true });
    await expect(collectEvents(events)).rejects.toMatchObject({ failure: 'unreadable' });
  });

  it('reports an incomplete answer as cut', async () => {
    const half = { ...answer, withoutFinish: true };
    for (const stream of [false, true]) {
      const reply = stream ? bedrockVendor.stream(half) : bedrockVendor.whole(half);
      await expect(collectEvents(generate(send(reply), { stream }).events)).rejects.toMatchObject({
        failure: 'cut',
      });
    }
  });

  it('releases a connection that stays open after the end', async () => {
    const open: Drive = (connection) =>
      void connection.answer(200, streamed.headers).send(...streamed.pieces);
    const { events, connections } = generate(open, { stream: true });
    expect(text(await collectEvents(events))).toBe(answer.text);
    expect(connections[0]!.aborted).toBe(false);
    connections[0]!.end();
  });

  it('closes the connection when its reader leaves or its caller disconnects', async () => {
    const open: Drive = (connection) =>
      void connection.answer(200, streamed.headers).send(...streamed.pieces.slice(0, 2));
    const left = generate(open, { stream: true });
    for await (const event of left.events) if (event.type === 'text') break;
    expect(left.connections[0]!.aborted).toBe(true);

    const aborter = new AbortController();
    const aborted = generate(open, { stream: true }, { signal: aborter.signal });
    const reading = (async () => {
      for await (const event of aborted.events) if (event.type === 'text') aborter.abort();
    })();
    await expect(reading).rejects.toBeInstanceOf(CallAbortedError);
    expect(aborted.connections[0]!.aborted).toBe(true);
  });

  it('redacts its credentials when a vendor echoes them', async () => {
    const message = `messages: ${secretAccessKey} ${accessKeyId} ${sessionToken}`;
    const body = Buffer.from(JSON.stringify({ message, __type: 'ValidationException' }));
    const { events } = generate(send({ status: 400, headers: {}, body }));
    const error = await collectEvents(events).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ failure: 'caller', param: 'messages' });
    const shown = (error as Error).message;
    for (const secret of Object.values(CREDENTIALS)) expect(shown).not.toContain(secret);
  });

  it('lists fields that a model does not support', () => {
    const { adapter } = adapterWith(whole);
    const request = chatRequest({ temperature: 0.5, seed: 1 });
    const routeTo = (upstreamModel: string) => ({ upstreamModel, maxOutputTokens: 4_096 });
    expect(adapter.droppedParams(request, routeTo(MODEL))).toEqual(['seed']);
    expect(adapter.droppedParams(request, routeTo('anthropic.claude-opus-5-5'))).toEqual([
      'seed',
      'temperature',
    ]);
  });

  it.each([
    ['', 'https://bedrock.eu-central-1.amazonaws.com/foundation-models'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/foundation-models'],
  ])('probes the account at base URL %j', async (baseUrl, url) => {
    const ok = { status: 200, headers: {}, body: Buffer.from('{}') };
    const { adapter, calls } = adapterWith(send(ok), { baseUrl });
    const call = { limits: LONG_LIMITS, signal: new AbortController().signal };
    await adapter.probe(call);
    expect([calls[0]!.method, calls[0]!.url.href]).toEqual(['GET', url]);
    expect(calls[0]!.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 /);

    const failing = adapterWith(send(bedrockVendor.failure('bad_key')), { baseUrl });
    await expect(failing.adapter.probe(call)).rejects.toMatchObject({ failure: 'operator' });
  });
});
