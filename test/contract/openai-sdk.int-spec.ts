import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { AzureOpenAI } from 'openai';
import { LAST_WORD, TWO_CALLS, USAGE } from './contract-conversation.js';
import type { ContractVendor, FailureKind, Reply } from './contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from './scripted-server.js';
import { AZURE_API_VERSION, azureVendor } from './vendors/azure.vendor.js';
import { openAiVendor } from './vendors/openai.vendor.js';

const apiKey = 'key-of-the-contract-suite';

const CLIENTS: [ContractVendor, (origin: string) => OpenAI, path: string][] = [
  [
    openAiVendor,
    (origin) => new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 }),
    '/v1/chat/completions',
  ],
  [
    azureVendor,
    (endpoint) =>
      new AzureOpenAI({ endpoint, apiKey, apiVersion: AZURE_API_VERSION, maxRetries: 0 }),
    `/openai/deployments/${azureVendor.upstreamModel}/chat/completions?api-version=${AZURE_API_VERSION}`,
  ],
];

/** The vendor's own client verifies that its answers are encoded correctly here. */
describe.each(CLIENTS)(
  'the official client, given the scripted answers of $name,',
  (vendor, make, path) => {
    const messages = [{ role: 'user', content: 'Hi' }] as const;
    let server: ScriptedServer;
    let client: OpenAI;

    beforeAll(async () => {
      server = await startScriptedServer((_call, response) => void response.destroy());
      client = make(server.origin);
    });
    afterAll(() => server.close());

    const answerWith = ({ status, headers, body }: Reply): void => {
      server.script = reply(status, headers, body);
    };
    const ask = (): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions.create({ model: vendor.upstreamModel, messages: [...messages] });
    const stream = (): ReturnType<typeof client.chat.completions.stream> =>
      client.chat.completions.stream({
        model: vendor.upstreamModel,
        messages: [...messages],
        stream_options: { include_usage: true },
      });
    const usage = {
      prompt_tokens: USAGE.input,
      completion_tokens: USAGE.output,
      total_tokens: USAGE.input + USAGE.output,
      prompt_tokens_details: { cached_tokens: USAGE.cacheRead },
      completion_tokens_details: { reasoning_tokens: USAGE.reasoning },
    };
    const toolCalls = TWO_CALLS.toolCalls!.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    }));

    it('calls the address that the adapter calls', async () => {
      answerWith(vendor.whole(LAST_WORD));
      await ask();
      expect(server.calls.at(-1)?.path).toBe(path);
    });

    it('reads a whole answer with two tool calls', async () => {
      answerWith(vendor.whole(TWO_CALLS));
      const completion = await ask();
      expect(completion.choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: { role: 'assistant', content: TWO_CALLS.text, tool_calls: toolCalls },
      });
      expect(completion.usage).toMatchObject(usage);
    });

    it('reads a stream with two tool calls', async () => {
      answerWith(vendor.stream(TWO_CALLS));
      const completion = await stream().finalChatCompletion();
      expect(completion.choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: { role: 'assistant', content: TWO_CALLS.text },
      });
      expect(completion.choices[0]?.message.tool_calls).toMatchObject(toolCalls);
      expect(completion.usage).toMatchObject(usage);
    });

    it.each(['stop', 'length', 'content_filter'] as const)('reads an end by %s', async (finish) => {
      const answer = { ...LAST_WORD, finish };
      answerWith(vendor.whole(answer));
      const whole = await ask();
      expect(whole.choices[0]?.finish_reason).toBe(finish);
      answerWith(vendor.stream(answer));
      const reasons: unknown[] = [];
      const chunks = await client.chat.completions.create({
        model: vendor.upstreamModel,
        messages: [...messages],
        stream: true,
      });
      for await (const { choices } of chunks) {
        reasons.push(...choices.flatMap((choice) => choice.finish_reason ?? []));
      }
      expect(reasons).toEqual([finish]);
    });

    it.each<[FailureKind, new (...args: never[]) => Error]>([
      ['rate_limited', OpenAI.RateLimitError],
      ['overloaded', OpenAI.InternalServerError],
      ['server', OpenAI.InternalServerError],
      ['bad_request', OpenAI.BadRequestError],
      ['context_length', OpenAI.BadRequestError],
      ['bad_key', OpenAI.AuthenticationError],
    ])('throws its own class for %s, with the message', async (kind, expected) => {
      const failure = vendor.failure(kind);
      answerWith(failure);
      const { error } = JSON.parse(failure.body.toString()) as { error: { message: string } };
      const thrown: unknown = await ask().catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(expected);
      expect((thrown as Error).message).toContain(error.message);
    });

    it('throws for a failure in the middle of a stream', async () => {
      answerWith(vendor.streamFailure!('Once '));
      await expect(stream().finalChatCompletion()).rejects.toBeInstanceOf(OpenAI.APIError);
    });
  },
);
