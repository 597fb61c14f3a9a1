import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Reply, ScriptedAnswer } from '../contract/contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { bedrockVendor, CREDENTIALS } from '../contract/vendors/bedrock.vendor.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { loggedRequest } from '../support/logged-request.js';
import { readAvailable } from '../support/streamed-answer.js';

const model = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const messages = [{ role: 'user' as const, content: 'Hi' }];
const tools = [
  {
    type: 'function' as const,
    function: { name: 'look_up', parameters: { type: 'object', properties: {} } },
  },
];
const answer: ScriptedAnswer = {
  text: 'I look it up, 🌍.',
  reasoning: { text: 'They want it.', signature: 'c2lnbmF0dXJl' },
  toolCalls: [
    { id: 'call_1', name: 'look_up', arguments: '{"city":"Zürich"}' },
    { id: 'call_2', name: 'look_up', arguments: '{}' },
  ],
  finish: 'tool_calls',
  usage: { input: 1_000, output: 200, cacheRead: 400 },
};

describe('POST /v1/chat/completions for a model of the Converse API', () => {
  let vendor: ScriptedServer;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    vendor = await startScriptedServer((_call, response) => void response.destroy());
    gateway = await bootGateway({
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      AWS_SESSION_TOKEN: CREDENTIALS.sessionToken,
      AWS_BEDROCK_ENDPOINT: vendor.origin,
      GATEWAY_COOLDOWN_MS: '1',
    });
    client = new OpenAI({
      apiKey: gateway.apiKey,
      baseURL: `${gateway.url}/v1`,
      maxRetries: 0,
    });
  });
  afterAll(async () => {
    await gateway.close();
    await vendor.close();
  });

  const script = ({ status, headers, body }: Reply): void => {
    vendor.script = reply(status, headers, body);
  };
  const lastRequest = () => bedrockVendor.readRequest(vendor.calls.at(-1)!);

  it('answers whole and streamed alike, at the same cost', async () => {
    script(bedrockVendor.whole(answer));
    const { data, response } = await client.chat.completions
      .create({ model, messages, tools })
      .withResponse();
    const [choice] = data.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: answer.text,
        tool_calls: answer.toolCalls!.map(({ id, name, arguments: text }) => ({
          id,
          function: { name, arguments: text },
        })),
      },
    });
    expect(data.usage).toMatchObject({
      prompt_tokens: 1_000,
      completion_tokens: 200,
      prompt_tokens_details: { cached_tokens: 400 },
    });
    expect(response.headers.get('x-gateway-provider')).toBe('bedrock');

    script(bedrockVendor.stream(answer));
    const stream = client.chat.completions.stream({
      model,
      messages,
      tools,
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]!.message.content).toBe(answer.text);
    expect(streamed.choices[0]!.message.tool_calls).toEqual(choice!.message.tool_calls);
    expect(streamed.choices[0]!.finish_reason).toBe('tool_calls');
    expect(streamed.usage).toMatchObject({ prompt_tokens: 1_000, completion_tokens: 200 });

    // 600 plain tokens in, 400 read from the cache, 200 out, at the catalogue's prices in credits.
    const cost = Math.ceil(600 * 3.3 + 400 * 0.33 + 200 * 16.5);
    expect(response.headers.get('x-gateway-cost')).toBe(String(cost));
    const listed = await gateway.fetch('/v1/customer/logs', {
      headers: { authorization: `Bearer ${gateway.managementKey}` },
    });
    const logs = JSON.stringify(await listed.json());
    expect(logs.match(new RegExp(`"cost":${cost}\\b`, 'g'))).toHaveLength(2);
  });

  it('accepts its own reasoning in the next turn', async () => {
    script(bedrockVendor.whole(answer));
    const first = await client.chat.completions.create({ model, messages, tools });
    script(bedrockVendor.whole({ ...answer, toolCalls: [], finish: 'stop' }));
    const results = ['call_1', 'call_2'].map((tool_call_id) => ({
      role: 'tool' as const,
      tool_call_id,
      content: 'sunny',
    }));
    await client.chat.completions.create({
      model,
      messages: [...messages, first.choices[0]!.message, ...results],
      tools,
    });
    expect(lastRequest().turns).toMatchObject([
      { role: 'user', text: 'Hi' },
      { role: 'assistant', toolCalls: [{ name: 'look_up' }, { name: 'look_up' }] },
      { role: 'user', toolResults: ['sunny', 'sunny'] },
    ]);
    const body = JSON.parse(vendor.calls.at(-1)!.body.toString()) as {
      messages: { content: unknown[] }[];
    };
    expect(body.messages[1]!.content).toContainEqual({
      reasoningContent: { reasoningText: answer.reasoning },
    });
  });

  it('names dropped fields, and rejects unsupported ones', async () => {
    script(bedrockVendor.whole(answer));
    const { response } = await client.chat.completions
      .create({ model, messages, seed: 1, logprobs: true })
      .withResponse();
    expect(response.headers.get('x-gateway-dropped-params')).toBe('seed, logprobs');
    const refused = await gateway.post('/v1/chat/completions', { model, messages, n: 2 });
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 400,
      body: { error: { param: 'n', type: 'invalid_request_error' } },
    });
  });

  it("rejects a caller's internal URL without a call", async () => {
    const before = vendor.calls.length;
    const image_url = { url: `${vendor.origin}/secret.png` };
    const content = [{ type: 'image_url', image_url }];
    const refused = await gateway.post('/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content }],
    });
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 400,
      body: { error: { param: 'messages', type: 'invalid_request_error' } },
    });
    expect(vendor.calls).toHaveLength(before);
  });

  it('reports a failure in the middle of a stream in-band, and charges nothing', async () => {
    script(bedrockVendor.streamFailure!('So far'));
    const response = await gateway.post('/v1/chat/completions', { model, messages, stream: true });
    const { body: text, isCut } = await readAvailable(response);
    expect(isCut).toBe(true);
    expect(text).toContain('So far');
    expect(text).toContain('"finish_reason":"error"');
    expect(text).not.toContain('[DONE]');
    const row = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
    expect(row).toMatchObject({ cost: 0, status: 'error' });
  });
});
