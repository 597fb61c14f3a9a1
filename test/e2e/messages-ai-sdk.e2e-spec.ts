import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAnthropic } from '@ai-sdk/anthropic';
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

/** Given always, since the package warns of models that it does not know. */
const settings = { maxRetries: 0, maxOutputTokens: 200 };

describe('the @ai-sdk/anthropic package against POST /v1/anthropic/messages', () => {
  let gateway: BootedGateway;
  let model: ReturnType<ReturnType<typeof createAnthropic>>;

  beforeAll(async () => {
    gateway = await bootGateway();
    const provider = createAnthropic({
      baseURL: `${gateway.url}/v1/anthropic`,
      apiKey: gateway.apiKey,
    });
    model = provider('sandbox/echo');
  });
  afterAll(() => gateway.close());

  const weather = tool({
    description: 'Weather of a city',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: () => 'Sunny',
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
    expect(whole.text).toBe('Sandbox echo: Sunny');
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

  it('reads what was wrong', async () => {
    const provider = createAnthropic({ baseURL: `${gateway.url}/v1/anthropic`, apiKey: 'sk-none' });
    const failing = generateText({ model: provider('sandbox/echo'), prompt: 'x', ...settings });
    await expect(failing).rejects.toMatchObject({
      statusCode: 401,
      message: expect.stringMatching(/API key is unknown/) as unknown,
    });
  });
});
