import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiError, GoogleGenAI, type GenerateContentResponse } from '@google/genai';
import { OAuth2Client } from 'google-auth-library';
import { chatRequest } from '../support/chat-requests.js';
import { LONG_LIMITS } from '../support/fake-connection.js';
import type { CanonicalEvent } from '../../src/canonical/canonical-event.js';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import type { FailureKind, Reply, ScriptedAnswer } from './contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from './scripted-server.js';
import { VERTEX } from './vendors/vertex.vendor.js';

const TEXT: ScriptedAnswer = {
  text: 'Grüße aus 東京 🙂',
  reasoning: { text: 'Where am I?', signature: 'c2VhbA==' },
  finish: 'stop',
  usage: { input: 100, output: 30, cacheRead: 80, reasoning: 20 },
};
const CALLS: ScriptedAnswer = {
  text: 'So:',
  toolCalls: [
    { id: 'call-1', name: 'weather', arguments: '{"city":"Paris"}' },
    { id: 'call-2', name: 'weather', arguments: '{"city":"Tokyo"}' },
  ],
  finish: 'tool_calls',
  usage: { input: 10, output: 5 },
};

/** Returns the SDK's view of all pieces together. */
function merge(responses: GenerateContentResponse[]) {
  const parts = responses.flatMap((response) => response.candidates?.[0]?.content?.parts ?? []);
  const textOf = (isThought: boolean): string =>
    parts.map((part) => ((part.thought ?? false) === isThought ? (part.text ?? '') : '')).join('');
  return {
    text: textOf(false),
    thoughts: textOf(true),
    signatures: parts.flatMap((part) => part.thoughtSignature ?? []),
    calls: responses.flatMap((response) => response.functionCalls ?? []),
    finishReason: responses.at(-1)?.candidates?.[0]?.finishReason,
    usage: responses.at(-1)?.usageMetadata,
  };
}

describe('the vendor’s own SDK reads the contract vendor’s answers', () => {
  let server: ScriptedServer;
  let sdk: GoogleGenAI;

  beforeAll(async () => {
    server = await startScriptedServer(() => undefined);
    const authClient = new OAuth2Client();
    authClient.setCredentials({ access_token: 'sdk-token', expiry_date: Date.now() + 3_600_000 });
    sdk = new GoogleGenAI({
      vertexai: true,
      project: 'my-project',
      location: 'global',
      apiVersion: 'v1',
      googleAuthOptions: { authClient },
      httpOptions: { baseUrl: server.origin },
    });
  });
  afterAll(() => server.close());

  const answerWith = ({ status, headers, body }: Reply): void => {
    server.calls.length = 0;
    server.script = reply(status, headers, body);
  };
  const ask = { model: VERTEX.upstreamModel, contents: 'Hi' };
  const whole = async (answer: ScriptedAnswer) => {
    answerWith(VERTEX.whole(answer));
    return merge([await sdk.models.generateContent(ask)]);
  };
  const stream = async (answer: ScriptedAnswer) => {
    answerWith(VERTEX.stream(answer));
    const responses: GenerateContentResponse[] = [];
    for await (const response of await sdk.models.generateContentStream(ask)) {
      responses.push(response);
    }
    return merge(responses);
  };

  describe.each([
    ['whole', whole],
    ['streamed', stream],
  ])('%s', (_name, read) => {
    it('with text, thoughts, their signature and usage', async () => {
      expect(await read(TEXT)).toMatchObject({
        text: TEXT.text,
        thoughts: 'Where am I?',
        signatures: ['c2VhbA=='],
        calls: [],
        finishReason: 'STOP',
        usage: {
          promptTokenCount: 100,
          candidatesTokenCount: 10,
          thoughtsTokenCount: 20,
          cachedContentTokenCount: 80,
          totalTokenCount: 130,
        },
      });
    });

    it('with parallel calls', async () => {
      expect(await read(CALLS)).toMatchObject({
        text: 'So:',
        calls: [
          { id: 'call-1', name: 'weather', args: { city: 'Paris' } },
          { id: 'call-2', name: 'weather', args: { city: 'Tokyo' } },
        ],
      });
    });

    it.each([
      ['length', 'MAX_TOKENS'],
      ['content_filter', 'SAFETY'],
    ] as const)('that ends with %s', async (finish, finishReason) => {
      expect(await read({ ...TEXT, finish })).toMatchObject({ finishReason });
    });

    it('that has no end', async () => {
      const { text, finishReason } = await read({ ...TEXT, withoutFinish: true });
      expect({ text, finishReason }).toEqual({ text: TEXT.text, finishReason: undefined });
    });
  });

  it.each<[FailureKind, number, RegExp]>([
    ['rate_limited', 429, /RESOURCE_EXHAUSTED/],
    ['overloaded', 503, /UNAVAILABLE/],
    ['server', 500, /INTERNAL/],
    ['bad_request', 400, /INVALID_ARGUMENT/],
    ['context_length', 400, /exceeds the maximum number of tokens/],
    ['bad_key', 401, /UNAUTHENTICATED/],
  ])('failed with %s', async (kind, status, message) => {
    answerWith(VERTEX.failure(kind));
    const failing = sdk.models.generateContent(ask);
    await expect(failing).rejects.toBeInstanceOf(ApiError);
    await expect(failing).rejects.toMatchObject({
      status,
      message: expect.stringMatching(message),
    });
  });

  it('that fails after it has begun', async () => {
    answerWith(VERTEX.streamFailure!('Half a '));
    const seen: (string | undefined)[] = [];
    const reading = (async () => {
      for await (const response of await sdk.models.generateContentStream(ask)) {
        seen.push(response.text);
      }
    })();
    await expect(reading).rejects.toMatchObject({ status: 503 });
  });

  describe('and sends the same requests as the adapter', () => {
    const collect = async (events: AsyncIterable<CanonicalEvent>): Promise<CanonicalEvent[]> => {
      const collected: CanonicalEvent[] = [];
      for await (const event of events) collected.push(event);
      return collected;
    };
    const generate = async (fields: Record<string, unknown>): Promise<CanonicalEvent[]> => {
      const transport = new HttpTransport(1_000);
      const mediaFetcher = new MediaFetcher({ allowPrivate: false });
      try {
        const adapter = VERTEX.createAdapter(server.origin, { transport, mediaFetcher });
        return await collect(
          adapter.generate({
            request: chatRequest(fields),
            alias: 'vertex/gemini-3.5-flash',
            upstreamModel: VERTEX.upstreamModel,
            limits: LONG_LIMITS,
            maxOutputTokens: 4_096,
            signal: new AbortController().signal,
          }),
        );
      } finally {
        await transport.onApplicationShutdown();
      }
    };

    it.each([false, true])(
      'to the same address with the same content, streaming %s',
      async (isStream) => {
        const parameters = { type: 'object', properties: { city: { type: 'string' } } };
        const answer = isStream ? VERTEX.stream(TEXT) : VERTEX.whole(TEXT);
        answerWith(answer);
        await generate({
          stream: isStream,
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'Weather?' },
            {
              role: 'assistant',
              tool_calls: [
                {
                  id: 'c1',
                  type: 'function',
                  function: { name: 'weather', arguments: '{"city":"Paris"}' },
                },
              ],
            },
            { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
          ],
          tools: [{ type: 'function', function: { name: 'weather', parameters } }],
          tool_choice: 'auto',
          temperature: 0.5,
          top_p: 0.9,
          max_tokens: 50,
          stop: ['END'],
          seed: 7,
          reasoning_effort: 'high',
        });
        const [ours] = server.calls;

        answerWith(answer);
        const request = {
          model: VERTEX.upstreamModel,
          contents: [
            { role: 'user', parts: [{ text: 'Weather?' }] },
            {
              role: 'model',
              parts: [
                {
                  functionCall: { id: 'c1', name: 'weather', args: { city: 'Paris' } },
                  thoughtSignature: 'skip_thought_signature_validator',
                },
              ],
            },
            {
              role: 'user',
              parts: [
                { functionResponse: { id: 'c1', name: 'weather', response: { output: 'sunny' } } },
              ],
            },
          ],
          config: {
            systemInstruction: { parts: [{ text: 'Be brief.' }] },
            tools: [
              { functionDeclarations: [{ name: 'weather', parametersJsonSchema: parameters }] },
            ],
            toolConfig: { functionCallingConfig: { mode: 'AUTO' as never } },
            temperature: 0.5,
            topP: 0.9,
            maxOutputTokens: 50,
            stopSequences: ['END'],
            seed: 7,
            thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' as never },
          },
        };
        if (isStream) for await (const _ of await sdk.models.generateContentStream(request));
        else await sdk.models.generateContent(request);
        const [theirs] = server.calls;

        expect(ours?.path).toBe(theirs?.path);
        expect(ours?.method).toBe(theirs?.method);
        expect(theirs?.headers.authorization).toBe('Bearer sdk-token');
        expect(ours?.headers.authorization).toBe('Bearer vertex-contract-token');
        expect(JSON.parse(String(ours?.body))).toEqual(JSON.parse(String(theirs?.body)));
      },
    );

    it('and reads the same of it, whole and streamed', async () => {
      answerWith(VERTEX.whole(TEXT));
      const whole = await generate({});
      answerWith(VERTEX.stream(TEXT));
      const streamed = await generate({ stream: true });
      for (const events of [whole, streamed]) {
        const texts = events.map((event) => (event.type === 'text' ? event.text : ''));
        expect(texts.join('')).toBe(TEXT.text);
        expect(events).toContainEqual({
          type: 'reasoning',
          choice: 0,
          text: 'Where am I?',
          signature: 'google:c2VhbA==',
        });
        expect(events).toContainEqual({ type: 'finish', choice: 0, reason: 'stop' });
        expect(events.findLast((event) => event.type === 'usage')?.usage).toMatchObject({
          inputTokens: 100,
          outputTokens: 30,
          cacheReadTokens: 80,
          reasoningTokens: 20,
        });
      }
    });

    it('and is parsed into terms shared by all vendors', async () => {
      answerWith(VERTEX.whole(TEXT));
      await generate({
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: 'U' },
          {
            role: 'assistant',
            content: 'A',
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c', content: 'R' },
        ],
        tools: [{ type: 'function', function: { name: 'f' } }],
        tool_choice: { type: 'function', function: { name: 'f' } },
        temperature: 0,
        max_tokens: 3,
        stop: 'x',
      });
      expect(VERTEX.readRequest(server.calls[0]!)).toEqual({
        system: 'S',
        turns: [
          { role: 'user', text: 'U', toolCalls: [], toolResults: [] },
          {
            role: 'assistant',
            text: 'A',
            toolCalls: [{ name: 'f', arguments: { a: 1 } }],
            toolResults: [],
          },
          { role: 'user', text: '', toolCalls: [], toolResults: ['R'] },
        ],
        tools: ['f'],
        toolChoice: { name: 'f' },
        maxOutputTokens: 3,
        temperature: 0,
        stop: ['x'],
        stream: false,
      });
    });
  });
});
