import Anthropic, { APIError, type ClientOptions } from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import { LONG_LIMITS } from '../support/fake-connection.js';
import { promptRequest, says } from '../support/prompt-requests.js';
import type { FailureKind, ScriptedAnswer } from './contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from './scripted-server.js';
import { anthropicVendor } from './vendors/anthropic.vendor.js';

const ANSWER: ScriptedAnswer = {
  text: 'Größe: 日本 🙂',
  reasoning: { text: 'Let me think.', signature: 'c2lnbmF0dXJl' },
  toolCalls: [
    { id: 'toolu_1', name: 'look', arguments: '{"at":"🙂","deep":{"n":[1,2]}}' },
    { id: 'toolu_2', name: 'stay', arguments: '{}' },
  ],
  finish: 'tool_calls',
  usage: { input: 120, output: 40, cacheRead: 100, reasoning: 7 },
};

const REQUEST = {
  model: 'claude-haiku-4-5',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Hi' }],
};

/** The vendor's own client verifies that answers are encoded correctly here. */
describe('encoded answers, read by @anthropic-ai/sdk', () => {
  let server: ScriptedServer;
  let client: Anthropic;

  beforeEach(async () => {
    server = await startScriptedServer(() => undefined);
    const options: ClientOptions = { apiKey: 'sk-ant-test', baseURL: server.origin, maxRetries: 0 };
    client = new Anthropic(options);
  });

  afterEach(async () => {
    await server.close();
  });

  const expected = {
    content: [
      { type: 'thinking', thinking: 'Let me think.', signature: 'c2lnbmF0dXJl' },
      { type: 'text', text: 'Größe: 日本 🙂' },
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'look',
        input: { at: '🙂', deep: { n: [1, 2] } },
      },
      { type: 'tool_use', id: 'toolu_2', name: 'stay', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: {
      input_tokens: 20,
      cache_read_input_tokens: 100,
      output_tokens: 40,
      output_tokens_details: { thinking_tokens: 7 },
    },
  };

  it('whole', async () => {
    const { status, headers, body } = anthropicVendor.whole(ANSWER);
    server.script = reply(status, headers, body);
    expect(await client.messages.create(REQUEST)).toMatchObject(expected);
  });

  it('streamed, one event at a time', async () => {
    const { status, headers, pieces } = anthropicVendor.stream(ANSWER);
    server.script = async (_call, response) => {
      response.writeHead(status, headers);
      for (const piece of pieces) {
        response.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    expect(await client.messages.stream(REQUEST).finalMessage()).toMatchObject(expected);
  });

  it.each(['stop', 'length', 'content_filter'] as const)('that end with %s', async (finish) => {
    const answer = { text: 'a', finish, usage: { input: 1, output: 1 } };
    const { status, headers, body } = anthropicVendor.stream(answer);
    server.script = reply(status, headers, body);
    const streamed = await client.messages.stream(REQUEST).finalMessage();
    const whole = anthropicVendor.whole(answer);
    server.script = reply(whole.status, whole.headers, whole.body);
    const { stop_reason } = await client.messages.create(REQUEST);
    expect(streamed.stop_reason).toBe(stop_reason);
    expect(stop_reason).toBe(
      { stop: 'end_turn', length: 'max_tokens', content_filter: 'refusal' }[finish],
    );
  });

  it.each<[FailureKind, number, string]>([
    ['rate_limited', 429, 'rate_limit_error'],
    ['overloaded', 529, 'overloaded_error'],
    ['server', 500, 'api_error'],
    ['bad_request', 400, 'invalid_request_error'],
    ['context_length', 400, 'invalid_request_error'],
    ['bad_key', 401, 'authentication_error'],
  ])('that fail: %s', async (kind, status, type) => {
    const failure = anthropicVendor.failure(kind);
    server.script = reply(failure.status, failure.headers, failure.body);
    const error: unknown = await client.messages.create(REQUEST).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status, type, requestID: 'req_1' });
  });

  it('that fail after they have started', async () => {
    const failure = anthropicVendor.streamFailure!('Hello');
    server.script = reply(failure.status, failure.headers, failure.body);
    const stream = await client.messages.create({ ...REQUEST, stream: true });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of stream) seen.push(event.type);
    })();
    await expect(reading).rejects.toMatchObject({ type: 'overloaded_error' });
    expect(seen).toEqual(['message_start', 'content_block_start', 'content_block_delta']);
  });

  it('and requests: the client’s requests are parsed back to the options', async () => {
    const { status, headers, body } = anthropicVendor.whole(ANSWER);
    server.script = reply(status, headers, body);
    await client.messages.create({
      ...REQUEST,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' }],
        },
      ],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any' },
      stop_sequences: ['END'],
    });
    expect(anthropicVendor.readRequest(server.calls[0]!)).toEqual({
      system: 'Be brief.',
      turns: [
        { role: 'user', text: 'Hi', toolCalls: [], toolResults: [] },
        {
          role: 'assistant',
          text: '',
          toolCalls: [{ name: 'look', arguments: { a: 1 } }],
          toolResults: [],
        },
        { role: 'user', text: '', toolCalls: [], toolResults: ['seen'] },
      ],
      tools: ['look'],
      toolChoice: 'required',
      maxOutputTokens: 100,
      temperature: undefined,
      stop: ['END'],
      stream: false,
    });
  });

  it('and the adapter’s requests equal the client’s', async () => {
    const { status, headers, body } = anthropicVendor.whole(ANSWER);
    server.script = reply(status, headers, body);
    const transport = new HttpTransport(1_000);
    const mediaFetcher = new MediaFetcher({ allowPrivate: false });
    const adapter = anthropicVendor.createAdapter(server.origin, { transport, mediaFetcher });
    const request = promptRequest({
      messages: [
        says('system', 'Be brief.'),
        says('user', 'Hi'),
        says('assistant', { type: 'tool_call', id: 'a', name: 'look', arguments: '{"a":1}' }),
        says('tool', {
          type: 'tool_result',
          toolCallId: 'a',
          parts: [{ type: 'text', text: 'seen' }],
        }),
      ],
      tools: [{ name: 'look' }],
      toolChoice: 'required',
      sampling: { stop: ['END'], temperature: 0.5 },
    });
    const types: string[] = [];
    for await (const event of adapter.generate({
      request,
      alias: 'anthropic/claude-haiku-4-5',
      upstreamModel: 'claude-haiku-4-5',
      limits: LONG_LIMITS,
      maxOutputTokens: 100,
      signal: new AbortController().signal,
    })) {
      types.push(event.type);
    }
    await transport.onApplicationShutdown();
    expect(types).toEqual([
      'start',
      'reasoning',
      'reasoning',
      'text',
      'tool_call',
      'tool_arguments',
      'tool_call',
      'tool_arguments',
      'finish',
      'usage',
    ]);
    const [call] = server.calls;
    expect(call).toMatchObject({ method: 'POST', path: '/v1/messages' });
    expect(anthropicVendor.readRequest(call!)).toMatchObject({
      system: 'Be brief.',
      turns: [{ text: 'Hi' }, { toolCalls: [{ arguments: { a: 1 } }] }, { toolResults: ['seen'] }],
      toolChoice: 'required',
      maxOutputTokens: 100,
      temperature: 0.5,
      stop: ['END'],
    });
  });
});
