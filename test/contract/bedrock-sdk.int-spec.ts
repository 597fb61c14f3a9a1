import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Sha256 } from '@aws-crypto/sha256-js';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseCommandInput,
  type ConverseStreamOutput,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import type { Upstream } from '../../src/vendors/upstream.js';
import { chatRequest } from '../support/chat-requests.js';
import { LONG_LIMITS } from '../support/fake-connection.js';
import type { FailureKind, Reply, ScriptedAnswer } from './contract-vendor.js';
import {
  reply,
  startScriptedServer,
  type RecordedCall,
  type ScriptedServer,
} from './scripted-server.js';
import { bedrockVendor, CREDENTIALS } from './vendors/bedrock.vendor.js';

const answer: ScriptedAnswer = {
  text: 'Grüße, 🌍!',
  reasoning: { text: 'They greet.', signature: 'c2lnbmF0dXJl' },
  toolCalls: [
    { id: 'call_1', name: 'look_up', arguments: '{"city":"Zürich"}' },
    { id: 'call_2', name: 'now', arguments: '{}' },
  ],
  finish: 'tool_calls',
  usage: { input: 30, output: 12, cacheRead: 10 },
};
const usage = { inputTokens: 20, outputTokens: 12, totalTokens: 42, cacheReadInputTokens: 10 };

let server: ScriptedServer;
let client: BedrockRuntimeClient;
const transport = new HttpTransport(1_000);
const mediaFetcher = new MediaFetcher({ allowPrivate: false });
let adapter: Upstream;

beforeAll(async () => {
  server = await startScriptedServer((_call, response) => void response.destroy());
  client = new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: server.origin,
    credentials: CREDENTIALS,
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
  adapter = bedrockVendor.createAdapter(server.origin, { transport, mediaFetcher });
});

afterAll(async () => {
  client.destroy();
  await transport.onApplicationShutdown();
  await mediaFetcher.onApplicationShutdown();
  await server.close();
});

const send = ({ status, headers, body }: Reply): void => {
  server.script = reply(status, headers, body);
};
const input: ConverseCommandInput = {
  modelId: bedrockVendor.upstreamModel,
  messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
};

describe("the vendor's own SDK", () => {
  it('reads a whole answer as scripted', async () => {
    send(bedrockVendor.whole(answer));
    const read = await client.send(new ConverseCommand(input));
    expect(read.output?.message?.content).toEqual([
      { reasoningContent: { reasoningText: answer.reasoning } },
      { text: answer.text },
      { toolUse: { toolUseId: 'call_1', name: 'look_up', input: { city: 'Zürich' } } },
      { toolUse: { toolUseId: 'call_2', name: 'now', input: {} } },
    ]);
    expect(read.stopReason).toBe('tool_use');
    expect(read.usage).toMatchObject(usage);
  });

  it('reads a streamed answer as scripted', async () => {
    send(bedrockVendor.stream(answer));
    const { stream } = await client.send(new ConverseStreamCommand(input));
    const events: ConverseStreamOutput[] = [];
    for await (const event of stream!) events.push(event);
    const deltas = events.flatMap(({ contentBlockDelta }) => contentBlockDelta?.delta ?? []);
    const join = (pieces: (string | undefined)[]): string => pieces.join('');
    expect(join(deltas.map(({ text }) => text))).toBe(answer.text);
    const reasoning = deltas.map(({ reasoningContent }) => reasoningContent);
    expect(join(reasoning.map((piece) => piece?.text))).toBe(answer.reasoning?.text);
    expect(join(reasoning.map((piece) => piece?.signature))).toBe(answer.reasoning?.signature);
    expect(join(deltas.map(({ toolUse }) => toolUse?.input))).toBe('{"city":"Zürich"}{}');
    const starts = events.flatMap(({ contentBlockStart }) => contentBlockStart?.start ?? []);
    expect(starts).toEqual([
      { toolUse: { toolUseId: 'call_1', name: 'look_up' } },
      { toolUse: { toolUseId: 'call_2', name: 'now' } },
    ]);
    expect(events.at(-2)).toEqual({ messageStop: { stopReason: 'tool_use' } });
    expect(events.at(-1)?.metadata?.usage).toMatchObject(usage);
  });

  it.each<[FailureKind, string]>([
    ['rate_limited', 'ThrottlingException'],
    ['overloaded', 'ServiceUnavailableException'],
    ['server', 'InternalServerException'],
    ['bad_request', 'ValidationException'],
    ['context_length', 'ValidationException'],
    ['bad_key', 'UnrecognizedClientException'],
  ])('reads the failure %s as a %s', async (kind, name) => {
    send(bedrockVendor.failure(kind));
    await expect(client.send(new ConverseCommand(input))).rejects.toMatchObject({ name });
  });

  it('reads a failure in the middle of a stream', async () => {
    send(bedrockVendor.streamFailure!('So far'));
    const { stream } = await client.send(new ConverseStreamCommand(input));
    const texts: (string | undefined)[] = [];
    const read = async (): Promise<void> => {
      for await (const event of stream!) texts.push(event.contentBlockDelta?.delta?.text);
    };
    await expect(read()).rejects.toMatchObject({ name: 'InternalServerException' });
    expect(texts).toContain('So far');
  });
});

describe('a request of the adapter', () => {
  const PIXEL = 'iVBORw0KGgoAAAANSUhEUg==';
  const fields = {
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this? Ä 🌍' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }],
    tool_choice: 'required',
    max_tokens: 100,
    stop: ['END'],
    top_k: 5,
    user: 'someone@example.com',
  };

  const callsOf = async (upstreamModel: string, stream: boolean) => {
    const scripted = { ...answer, finish: 'stop' as const };
    send(stream ? bedrockVendor.stream(scripted) : bedrockVendor.whole(scripted));
    const events = adapter.generate({
      request: chatRequest({ ...fields, stream }),
      alias: 'bedrock/x',
      upstreamModel,
      limits: LONG_LIMITS,
      maxOutputTokens: 100,
      signal: new AbortController().signal,
    });
    const before = server.calls.length;
    for await (const event of events) expect(event).toBeDefined();
    const ours = server.calls[before]!;

    const sent = { modelId: upstreamModel, ...withBytes(ours.body) };
    if (stream) {
      const { stream: events } = await client.send(new ConverseStreamCommand(sent));
      for await (const event of events!) expect(event).toBeDefined();
    } else await client.send(new ConverseCommand(sent));
    return { ours, theirs: server.calls[before + 1]! };
  };

  it.each([
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', false],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', true],
    [
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5',
      false,
    ],
    ["arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/it's(a)*!", true],
  ])('for %s, streamed %s, equals the official SDK’s', async (model, stream) => {
    const { ours, theirs } = await callsOf(model, stream);
    expect([ours.method, ours.path]).toEqual([theirs.method, theirs.path]);
    expect(JSON.parse(ours.body.toString())).toEqual(JSON.parse(theirs.body.toString()));
    for (const name of ['host', 'content-type', 'x-amz-security-token']) {
      expect([name, ours.headers[name]]).toEqual([name, theirs.headers[name]]);
    }
    expect(scopeOf(ours)).toBe(scopeOf(theirs));
    // The recomputation must confirm the SDK's signature as well, which validates it.
    expect(await recompute(theirs)).toBe(theirs.headers.authorization);
    expect(await recompute(ours)).toBe(ours.headers.authorization);
  });

  it('fails with another secret, path or body', async () => {
    const { ours } = await callsOf(bedrockVendor.upstreamModel, false);
    const { authorization } = ours.headers;
    expect(await recompute(ours, 'another secret')).not.toBe(authorization);
    expect(await recompute({ ...ours, path: ours.path.replace('%3A', ':') })).not.toBe(
      authorization,
    );
    expect(await recompute({ ...ours, body: Buffer.from('{}') })).not.toBe(authorization);
  });

  it('is signed when it probes the account', async () => {
    server.script = reply(200, { 'content-type': 'application/json' }, Buffer.from('{}'));
    await adapter.probe({ limits: LONG_LIMITS, signal: new AbortController().signal });
    const call = server.calls.at(-1)!;
    expect([call.method, call.path]).toEqual(['GET', '/foundation-models']);
    expect(await recompute(call)).toBe(call.headers.authorization);
  });
});

/** Converts base64 from the wire to the bytes that the SDK expects. */
function withBytes(body: Buffer): Omit<ConverseCommandInput, 'modelId'> {
  return JSON.parse(body.toString(), (key, value: unknown) =>
    key === 'bytes' ? Buffer.from(value as string, 'base64') : value,
  ) as Omit<ConverseCommandInput, 'modelId'>;
}

/** Returns the day, region and service that a request is signed for. */
function scopeOf({ headers }: RecordedCall): string | undefined {
  return /Credential=([^,]+)/.exec(headers.authorization ?? '')?.[1];
}

/** Recomputes the authorization of a received request. */
async function recompute(
  { method, path, headers, body }: RecordedCall,
  secretAccessKey = CREDENTIALS.secretAccessKey,
): Promise<string | undefined> {
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const left = signed.filter(
    (name) => !['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'].includes(name),
  );
  const at = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date']));
  const [, ...parts] = at ?? [];
  const [year, month, day, hour, minute, second] = parts.map(Number);
  const signer = new SignatureV4({
    service: 'bedrock',
    region: 'us-east-1',
    credentials: { ...CREDENTIALS, secretAccessKey },
    sha256: Sha256,
  });
  const { headers: anew } = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: '127.0.0.1',
      path,
      query: {},
      headers: Object.fromEntries(left.map((name) => [name, String(headers[name])])),
      body: body.length > 0 ? body : undefined,
    },
    { signingDate: new Date(Date.UTC(year!, month! - 1, day, hour, minute, second)) },
  );
  return anew.authorization;
}
