import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { ScriptedAnswer } from '../contract/contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { anthropicVendor } from '../contract/vendors/anthropic.vendor.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { readAvailable } from '../support/streamed-answer.js';

const ANSWER: ScriptedAnswer = {
  text: 'Grüße 🙂',
  reasoning: { text: 'Let me think.', signature: 'c2lnbmF0dXJl' },
  toolCalls: [{ id: 'toolu_1', name: 'look', arguments: '{"at":"🙂"}' }],
  finish: 'tool_calls',
  usage: { input: 120, output: 40, cacheRead: 100, reasoning: 7 },
};

const REQUEST = {
  model: 'anthropic/claude-haiku-4-5',
  messages: [{ role: 'user' as const, content: 'Hi' }],
  max_tokens: 4_000,
};

/** Scripts an answer, whole or streamed as requested. */
function script(server: ScriptedServer, answer: ScriptedAnswer): void {
  server.script = (call, response) => {
    const { stream } = anthropicVendor.readRequest(call);
    const { status, headers, body } = stream
      ? anthropicVendor.stream(answer)
      : anthropicVendor.whole(answer);
    return reply(status, headers, body)(call, response);
  };
}

describe('chat completions with Anthropic as the vendor', () => {
  let server: ScriptedServer;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    server = await startScriptedServer(() => undefined);
    gateway = await bootGateway({
      ANTHROPIC_API_KEY: 'sk-ant-vendor-key-0123456789',
      ANTHROPIC_BASE_URL: server.origin,
      GATEWAY_COOLDOWN_MS: '1',
    });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  beforeEach(() => {
    server.calls.length = 0;
  });
  afterAll(async () => {
    await gateway.close();
    await server.close();
  });

  it('return the same answer whole and streamed, for the same charge', async () => {
    script(server, ANSWER);
    const whole = await client.chat.completions.create(REQUEST);
    const stream = client.chat.completions.stream({
      ...REQUEST,
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    for (const { model, choices, usage } of [whole, streamed]) {
      expect(model).toBe('anthropic/claude-haiku-4-5');
      expect(choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: {
          content: 'Grüße 🙂',
          tool_calls: [{ id: 'toolu_1', function: { name: 'look', arguments: '{"at":"🙂"}' } }],
        },
      });
      expect(usage).toMatchObject({
        prompt_tokens: 120,
        completion_tokens: 40,
        prompt_tokens_details: { cached_tokens: 100 },
        completion_tokens_details: { reasoning_tokens: 7 },
      });
    }
    expect(server.calls.map(({ headers }) => headers['x-api-key'])).toEqual([
      'sk-ant-vendor-key-0123456789',
      'sk-ant-vendor-key-0123456789',
    ]);
  });

  it('send reasoning back with its signature in the next turn', async () => {
    script(server, ANSWER);
    const { choices } = await client.chat.completions.create(REQUEST);
    const result = { role: 'tool' as const, tool_call_id: 'toolu_1', content: 'seen' };
    const messages = [...REQUEST.messages, choices[0]!.message, result];
    await client.chat.completions.create({ ...REQUEST, messages, reasoning_effort: 'medium' });
    expect(JSON.parse(server.calls[1]!.body.toString())).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 4_000,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Let me think.', signature: 'c2lnbmF0dXJl' },
            { type: 'text', text: 'Grüße 🙂' },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: '🙂' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'text', text: 'seen' }],
            },
          ],
        },
      ],
    });
  });

  it('name dropped fields', async () => {
    script(server, { text: 'Hi', finish: 'stop', usage: { input: 1, output: 1 } });
    const body = { ...REQUEST, seed: 1, temperature: 1.5, 'odd\r\nfield': 1 };
    const response = await gateway.post('/v1/chat/completions', body);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-provider')).toBe('anthropic');
    expect(response.headers.get('x-gateway-dropped-params')).toBe('seed, unknown, temperature');
  });

  it('answer 400 with the field that the vendor does not support', async () => {
    const response = await gateway.post('/v1/chat/completions', { ...REQUEST, stop: ['\n'] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'stop' } });
    expect(server.calls).toHaveLength(0);
  });

  it.each([
    ['rate_limited', 429],
    ['bad_request', 400],
    ['context_length', 400],
    ['bad_key', 502],
    ['server', 502],
  ] as const)('map %s to %d', async (kind, expected) => {
    const { status, headers, body } = anthropicVendor.failure(kind);
    server.script = reply(status, headers, body);
    const response = await gateway.post('/v1/chat/completions', REQUEST);
    expect(response.status).toBe(expected);
    expect(await response.text()).not.toContain('sk-ant');
  });

  it('report a failure after content in the stream', async () => {
    const { status, headers, body } = anthropicVendor.streamFailure!('Hello');
    server.script = reply(status, headers, body);
    const response = await gateway.post('/v1/chat/completions', { ...REQUEST, stream: true });
    const { body: text, isCut } = await readAvailable(response);
    expect(isCut).toBe(true);
    expect(text).toContain('Hello');
    expect(text).toContain('"finish_reason":"error"');
    expect(text).not.toContain('[DONE]');
  });
});
