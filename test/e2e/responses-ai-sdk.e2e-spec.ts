import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

describe('the AI SDK against POST /v1/responses', () => {
  let gateway: BootedGateway;
  let provider: OpenAIProvider;

  beforeAll(async () => {
    gateway = await bootGateway();
    provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey });
  });
  afterAll(async () => {
    await gateway.close();
  });

  const weather = tool({
    description: 'The weather in a city.',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: ({ city }) => `sunny in ${city.length} letters`,
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
  ])('runs a tool and goes on with its result, %s, with store %p', async (kind, store) => {
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
