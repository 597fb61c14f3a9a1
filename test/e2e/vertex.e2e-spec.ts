import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reply, ScriptedAnswer } from '../contract/contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { VERTEX } from '../contract/vendors/vertex.vendor.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { readAvailable } from '../support/streamed-answer.js';

const TOKEN = 'token-of-no-known-shape';
const MODEL = 'vertex/gemini-3.5-flash';
const PRICING = { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000005' };

const ANSWER: ScriptedAnswer = {
  text: 'Grüße aus 東京 🙂',
  reasoning: { text: 'hm', signature: 'c2VhbA==' },
  finish: 'stop',
  usage: { input: 100, output: 30, cacheRead: 80, reasoning: 20 },
};
/** 20 prompt tokens, 80 cached ones at half the price, 30 output tokens at twice the price. */
const COST = 20 + 40 + 60;

interface Completion {
  model: string;
  choices: {
    message: {
      content: string | null;
      reasoning_content?: string;
      reasoning_details?: object[];
      tool_calls?: object[];
    };
    finish_reason: string;
  }[];
  usage: object;
}

describe('chat completions with a vendor of another dialect', () => {
  let server: ScriptedServer;
  let files: OperatorFiles;
  let gateway: BootedGateway;

  beforeAll(async () => {
    server = await startScriptedServer(() => undefined);
    files = await writeOperatorFiles({}, [{ id: MODEL, pricing: PRICING }]);
    gateway = await bootGateway({
      ...files.environment,
      GOOGLE_CLOUD_PROJECT: 'my-project',
      VERTEX_LOCATION: 'global',
      VERTEX_BASE_URL: server.origin,
      VERTEX_ACCESS_TOKEN: TOKEN,
      GATEWAY_COOLDOWN_MS: '1',
    });
  });
  afterAll(async () => {
    await gateway.close();
    await server.close();
    await files.remove();
  });
  beforeEach(() => {
    server.calls.length = 0;
  });

  const answerWith = ({ status, headers, body }: Reply): void => {
    server.script = reply(status, headers, body);
  };
  const messages = [{ role: 'user', content: 'Hi' }];
  const ask = (fields: object = {}): Promise<Response> =>
    gateway.post('/v1/chat/completions', { model: MODEL, messages, ...fields });

  it('answer whole, at the price of the usage', async () => {
    answerWith(VERTEX.whole(ANSWER));
    const response = await ask({ user: 'u', logit_bias: { 1: 1 }, reasoning_effort: 'none' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-provider')).toBe('vertex');
    expect(response.headers.get('x-gateway-cost')).toBe(String(COST));
    const dropped = response.headers.get('x-gateway-dropped-params')?.split(/, ?/);
    expect(dropped?.sort()).toEqual(['logit_bias', 'reasoning', 'user']);
    expect(await response.json()).toMatchObject({
      model: MODEL,
      choices: [
        {
          message: {
            content: ANSWER.text,
            reasoning_content: 'hm',
            reasoning_details: [
              { type: 'reasoning.text', text: 'hm', signature: 'google:c2VhbA==' },
            ],
          },
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 30,
        prompt_tokens_details: { cached_tokens: 80 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    });
    expect(server.calls[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(server.calls[0]?.path).toBe(
      '/v1/projects/my-project/locations/global/publishers/google/models/gemini-3.5-flash:generateContent',
    );
  });

  it('stream the same, at the same price', async () => {
    answerWith(VERTEX.stream(ANSWER));
    const response = await ask({ stream: true, stream_options: { include_usage: true } });
    const text = await response.text();
    const chunks = text
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)) as StreamChunk);
    const content = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(content).toBe(ANSWER.text);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 30 });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const log = await gateway.fetch('/v1/customer/logs?limit=1');
    expect(await log.json()).toMatchObject({ logs: [{ cost: COST, provider: 'vertex' }] });
  });

  it('return a call’s signature in the next turn', async () => {
    const signed = {
      candidates: [
        {
          content: {
            parts: [{ functionCall: { id: 'c1', name: 'f', args: {} }, thoughtSignature: 'QUJD' }],
          },
          finishReason: 'STOP',
        },
      ],
    };
    const tools = [{ type: 'function', function: { name: 'f' } }];
    server.script = reply(200, {}, Buffer.from(JSON.stringify(signed)));
    const first = (await (await ask({ tools })).json()) as Completion;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');

    answerWith(VERTEX.whole(ANSWER));
    const response = await ask({
      tools,
      messages: [
        ...messages,
        { role: 'assistant', ...first.choices[0]?.message },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
    });
    expect(response.status).toBe(200);
    await response.text();
    const { contents } = JSON.parse(String(server.calls.at(-1)?.body)) as { contents: object[] };
    expect(contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [{ functionCall: { id: 'c1', name: 'f', args: {} }, thoughtSignature: 'QUJD' }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', name: 'f', response: { output: 'done' } } }],
      },
    ]);
  });

  it('fall back to the next model for what this one cannot do, and report it when there is none', async () => {
    answerWith(VERTEX.whole(ANSWER));
    const fields = { n: 2 };
    const fallback = await ask({ ...fields, models: [MODEL, 'sandbox/echo'] });
    expect(fallback.headers.get('x-gateway-provider')).toBe('sandbox');
    await fallback.text();
    const alone = await ask(fields);
    expect(alone.status).toBe(400);
    expect(await alone.json()).toMatchObject({ error: { param: 'n' } });
    expect(server.calls).toHaveLength(0);
  });

  it('charge a blocked prompt as the vendor counts it', async () => {
    const blocked = {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
    };
    server.script = reply(200, {}, Buffer.from(JSON.stringify(blocked)));
    const response = await ask();
    expect(response.headers.get('x-gateway-cost')).toBe('9');
    expect(await response.json()).toMatchObject({ choices: [{ finish_reason: 'content_filter' }] });
  });

  it('end a stream that fails after its start with an error, and charge nothing', async () => {
    answerWith(VERTEX.streamFailure!('Half a '));
    const response = await ask({ stream: true });
    const { body: text, isCut } = await readAvailable(response);
    expect(isCut).toBe(true);
    expect(text).toContain('Half a ');
    expect(text).toContain('"finish_reason":"error"');
    expect(text).not.toContain('[DONE]');
    const log = await gateway.fetch('/v1/customer/logs?limit=1');
    expect(await log.json()).toMatchObject({ logs: [{ cost: 0, status: 'error' }] });
  });

  it('never show the operator’s token', async () => {
    const error = { error: { code: 400, message: `Bad: ${TOKEN}`, status: 'INVALID_ARGUMENT' } };
    server.script = reply(400, {}, Buffer.from(JSON.stringify(error)));
    const response = await ask();
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain(TOKEN);
  });

  it('probe the vendor successfully', async () => {
    server.script = reply(200, {}, Buffer.from('{}'));
    const response = await gateway.fetch('/v1/providers?include_health=true&type=gcp');
    expect(await response.json()).toMatchObject({ data: [{ id: 'vertex', status: 'healthy' }] });
    expect(server.calls.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  });
});

interface StreamChunk {
  choices: { delta: { content?: string | null } }[];
  usage?: object;
}
