import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai';
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

/** The messages package warns about unknown models without these. */
const settings = { maxRetries: 0, maxOutputTokens: 200 };

const weather = tool({
  description: 'The weather in a city.',
  inputSchema: jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }),
  execute: ({ city }) => `sunny in ${city.length} letters`,
});

let gateway: BootedGateway;

beforeAll(async () => {
  gateway = await bootGateway();
});
afterAll(() => gateway.close());

describe('the AI SDK against POST /v1/responses', () => {
  let provider: OpenAIProvider;

  beforeAll(() => {
    provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey });
  });

  it('streams text', async () => {
    const { textStream, finishReason, usage } = streamText({
      model: provider.responses('sandbox/words'),
      prompt: '12 words',
    });
    let text = '';
    for await (const piece of textStream) text += piece;
    expect(text.split(' ')).toHaveLength(12);
    expect(await finishReason).toBe('stop');
    expect(await usage).toMatchObject({ outputTokens: 12 });
  });

  it.each([
    ['whole', true],
    ['whole', false],
    ['streamed', true],
    ['streamed', false],
  ])('runs a tool and continues with its result, %s, with store %p', async (kind, store) => {
    const call = {
      model: provider.responses('sandbox/echo'),
      prompt: 'Weather?',
      tools: { weather },
      stopWhen: stepCountIs(3),
      providerOptions: { openai: { store } },
    };
    const steps =
      kind === 'whole' ? (await generateText(call)).steps : await streamText(call).steps;
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(steps[1]?.text).toMatch(/^Sandbox echo: .*sunny in \d+ letters/);
  });
});

describe('the AI SDK against POST /v1/anthropic/messages', () => {
  const providerOf = (apiKey: string) =>
    createAnthropic({ baseURL: `${gateway.url}/v1/anthropic`, apiKey });
  let model: ReturnType<ReturnType<typeof providerOf>>;

  beforeAll(() => {
    model = providerOf(gateway.apiKey)('sandbox/echo');
  });

  it('generates and streams text', async () => {
    const prompt = 'Hello 👋';
    const whole = await generateText({ model, prompt, system: 'Be brief.', ...settings });
    expect(whole.text).toBe('Sandbox echo: Hello 👋');
    expect(whole.finishReason).toBe('stop');
    expect(whole.usage).toMatchObject({ inputTokens: 4, outputTokens: 4 });

    const streamed = streamText({ model, prompt, system: 'Be brief.', ...settings });
    expect(await streamed.text).toBe(whole.text);
    expect(await streamed.usage).toMatchObject({ inputTokens: 4, outputTokens: 4 });
  });

  it('runs a tool through all its turns, whole and streamed', async () => {
    const options = {
      model,
      prompt: 'Weather?',
      tools: { weather },
      stopWhen: stepCountIs(3),
      ...settings,
    };
    const whole = await generateText(options);
    expect(whole.steps).toHaveLength(2);
    expect(whole.text).toMatch(/^Sandbox echo: .*sunny in \d+ letters/);
    const streamed = streamText(options);
    expect(await streamed.text).toBe(whole.text);
    expect(await streamed.steps).toHaveLength(2);
  });

  it('generates an object', async () => {
    const schema = jsonSchema<{ name: string }>({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    });
    const { object } = await generateObject({ model, schema, prompt: 'Who?', ...settings });
    expect(typeof object.name).toBe('string');
  });

  it('parses an error', async () => {
    const unknown = providerOf('sk-none')('sandbox/echo');
    const failing = generateText({ model: unknown, prompt: 'x', ...settings });
    await expect(failing).rejects.toMatchObject({
      statusCode: 401,
      message: expect.stringMatching(/API key is unknown/) as unknown,
    });
  });
});
