import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ScriptedAnswer } from '../contract/contract-vendor.js';
import { FLEET_NAMES, VendorFleet } from '../contract/vendor-fleet.js';
import {
  responseEvent,
  responseResource,
  type ResponseEvent,
  type ResponseResource,
} from '../support/response-resource.js';

/** A red square, 1 by 1. */
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** A tool without its optional fields. */
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather at a place',
  parameters: { type: 'object', properties: { location: { type: 'string' } } },
};

const TEXT: ScriptedAnswer = {
  text: 'Hello there',
  finish: 'stop',
  usage: { input: 9, output: 2 },
};
const CALL: ScriptedAnswer = {
  toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"location":"Rome"}' }],
  finish: 'tool_calls',
  usage: { input: 9, output: 5 },
};

const message = (role: string, content: unknown): object => ({ type: 'message', role, content });

interface Check {
  body: object;
  answer: ScriptedAnswer;
  outputType: string;
}

/** The checks of the dialect's public compliance suite, with our own texts. */
const CHECKS: Record<string, Check> = {
  'a basic response': {
    body: { input: [message('user', 'Say hello in three words.')] },
    answer: TEXT,
    outputType: 'message',
  },
  'a streamed response': {
    body: { input: [message('user', 'Count to five.')], stream: true },
    answer: TEXT,
    outputType: 'message',
  },
  'a system prompt': {
    body: { input: [message('system', 'You are a pirate.'), message('user', 'Say hello.')] },
    answer: TEXT,
    outputType: 'message',
  },
  'a tool call': {
    body: { input: [message('user', 'How is the weather?')], tools: [WEATHER] },
    answer: CALL,
    outputType: 'function_call',
  },
  'a streamed tool call': {
    body: { input: [message('user', 'How is the weather?')], tools: [WEATHER], stream: true },
    answer: CALL,
    outputType: 'function_call',
  },
  'a picture': {
    body: {
      input: [
        message('user', [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: PICTURE },
        ]),
      ],
    },
    answer: TEXT,
    outputType: 'message',
  },
  'several turns': {
    body: {
      input: [
        message('user', 'My name is Alice.'),
        message('assistant', 'Hello Alice!'),
        message('user', 'What is my name?'),
      ],
    },
    answer: TEXT,
    outputType: 'message',
  },
};

const VENDORS = [...FLEET_NAMES, 'sandbox'];
const COMBINATIONS = VENDORS.flatMap((vendor) =>
  Object.keys(CHECKS).map((check) => ({ vendor, check })),
);

describe('a response object', () => {
  let fleet: VendorFleet;

  beforeAll(async () => {
    fleet = await VendorFleet.start();
  });
  afterAll(() => fleet.close());

  const ask = async (vendor: string, body: object, answer: ScriptedAnswer): Promise<Response> => {
    const member = vendor === 'sandbox' ? undefined : fleet.member(vendor);
    member?.answer(answer);
    const model = member?.model ?? 'sandbox/echo';
    const response = await fleet.gateway.post('/v1/responses', { model, ...body });
    expect(response.status).toBe(200);
    return response;
  };

  it.each(COMBINATIONS)('of $vendor has every member: $check', async ({ vendor, check }) => {
    const { body, answer, outputType } = CHECKS[check]!;
    const response = await ask(vendor, body, answer);
    const isStream = 'stream' in body;
    const events = isStream ? eventsOf(await response.text()) : [];
    const resource = isStream ? lastOf(events) : responseResource.parse(await response.json());
    expect(resource.status).toBe('completed');
    expect(resource.completed_at).toBeGreaterThanOrEqual(1_700_000_000);
    expect(resource.output.map(({ type }) => type)).toContain(outputType);
    expect(resource).toMatchObject({ temperature: 1, top_p: 1, service_tier: 'default' });
    if (!isStream || outputType !== 'function_call') return;
    const itemTypes = (type: string): unknown[] =>
      events.flatMap((event) =>
        event.type === type && 'item' in event ? [(event.item as { type: string }).type] : [],
      );
    expect(itemTypes('response.output_item.added')).toContain('function_call');
    expect(itemTypes('response.output_item.done')).toContain('function_call');
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
      ]),
    );
  });

  it.each(['openai', 'anthropic'])(
    'of %s repeats the request options, and is retrieved unchanged',
    async (vendor) => {
      const options = {
        temperature: 0.4,
        top_p: 0.9,
        safety_identifier: 'user-7',
        prompt_cache_key: 'key-7',
        max_tool_calls: 3,
        top_logprobs: 0,
        metadata: { a: 'b' },
        tools: [{ ...WEATHER, strict: true }],
      };
      const response = await ask(vendor, { input: 'Hi', ...options }, TEXT);
      const resource = responseResource.parse(await response.json());
      expect(resource).toMatchObject(options);
      const stored = await fleet.gateway.fetch(`/v1/responses/${resource.id}`);
      expect(await stored.json()).toMatchObject(resource);
    },
  );

  it.each(['openai', 'anthropic'])('of %s that was cut is not complete', async (vendor) => {
    const response = await ask(vendor, { input: 'Hi' }, { ...TEXT, finish: 'length' });
    expect(responseResource.parse(await response.json())).toMatchObject({
      status: 'incomplete',
      completed_at: null,
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });
});

function eventsOf(stream: string): ResponseEvent[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => responseEvent.parse(JSON.parse(line.slice('data: '.length))));
}

function lastOf(events: readonly ResponseEvent[]): ResponseResource {
  const last = events.at(-1);
  expect(last?.type).toBe('response.completed');
  return responseResource.parse(last?.response);
}
