import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { allCallers, DIALECTS, schemaFields } from '../contract/callers/all-callers.js';
import type { DialectCaller } from '../contract/callers/dialect-caller.js';
import type { ScriptedAnswer } from '../contract/contract-vendor.js';
import { startFleet } from '../contract/fleet-of-suite.js';
import { FLEET_NAMES, type FleetMember, type VendorFleet } from '../contract/vendor-fleet.js';
import type { BootedGateway } from '../support/boot-gateway.js';
import { loggedRequest } from '../support/logged-request.js';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, inhabitants: { type: 'integer' } },
  required: ['city', 'inhabitants'],
  additionalProperties: false,
};
/** The same schema for the SDKs' helpers. */
const Place = z.object({ city: z.string(), inhabitants: z.number() });
type Place = z.infer<typeof Place>;

const VALUE: Place = { city: 'Zürich', inhabitants: 443_000 };
const USAGE = { input: 30, output: 12 };
const QUESTION = 'Which city is it?';
const FIELDS = schemaFields(SCHEMA);

const COMBINATIONS = DIALECTS.flatMap((dialect) =>
  FLEET_NAMES.flatMap((vendor) => [false, true].map((stream) => ({ dialect, vendor, stream }))),
);

/** Requests structured output with an SDK's own helper and returns the parsed value. */
type Parse = (model: string, stream: boolean) => Promise<Place | null | undefined>;

const HELPERS: Record<string, (gateway: BootedGateway) => Parse> = {
  'chat.completions.parse': (gateway) => {
    const { completions } = openAiClient(gateway).chat;
    return async (model, stream) => {
      const messages = [{ role: 'user' as const, content: QUESTION }];
      const params = { model, messages, response_format: zodResponseFormat(Place, 'place') };
      const completion = stream
        ? await completions.stream(params).finalChatCompletion()
        : await completions.parse(params);
      return completion.choices[0]!.message.parsed;
    };
  },
  'responses.parse': (gateway) => {
    const { responses } = openAiClient(gateway);
    return async (model, stream) => {
      const params = { model, input: QUESTION, text: { format: zodTextFormat(Place, 'place') } };
      const response = stream
        ? await responses.stream(params).finalResponse()
        : await responses.parse(params);
      return response.output_parsed;
    };
  },
  'messages.parse': (gateway) => {
    const { messages } = anthropicClient(gateway);
    return async (model, stream) => {
      const params = {
        model,
        max_tokens: 256,
        messages: [{ role: 'user' as const, content: QUESTION }],
        output_config: { format: zodOutputFormat(Place) },
      };
      const message = stream
        ? await messages.stream(params).finalMessage()
        : await messages.parse(params);
      return message.parsed_output;
    };
  },
};

const PARSES = Object.keys(HELPERS).flatMap((helper) =>
  FLEET_NAMES.flatMap((vendor) => [false, true].map((stream) => ({ helper, vendor, stream }))),
);

describe('an answer with a required schema', () => {
  let fleet: VendorFleet;
  let callers: Record<DialectCaller['name'], DialectCaller>;

  startFleet((started) => {
    fleet = started;
    callers = allCallers(fleet.gateway);
  });

  it.each(COMBINATIONS)(
    'is text in $dialect, from $vendor (stream: $stream)',
    async ({ dialect, vendor, stream }) => {
      const member = fleet.member(vendor);
      const caller = callers[dialect];
      answerWithValue(member, stream);
      const answer = await caller.ask(member.model, stream, FIELDS[dialect]);
      expect(JSON.parse(answer.text)).toEqual(VALUE);
      expect(answer).toMatchObject({ toolCalls: [], end: caller.ends.stop });
      expect(answer.headers.get('x-gateway-dropped-params')).toBeNull();
      // The schema is complete, wherever the vendor expects it.
      const { properties } = findSchema(member.lastBody())!;
      expect(Object.keys(properties)).toEqual(['city', 'inhabitants']);
      const row = await loggedRequest(fleet.gateway.database, caller.lastRequestId());
      expect(row).toMatchObject({ finish_reason: 'stop', completion_tokens: USAGE.output });
    },
  );

  it.each(PARSES)(
    'is parsed by $helper, from $vendor (stream: $stream)',
    async ({ helper, vendor, stream }) => {
      const member = fleet.member(vendor);
      answerWithValue(member, stream);
      const parse = HELPERS[helper]!(fleet.gateway);
      expect(await parse(member.model, stream)).toEqual(VALUE);
      // A single call contained the question and the helper's schema.
      expect(member.server.calls).toHaveLength(1);
      expect(member.lastRequest()).toMatchObject({
        turns: [{ role: 'user', text: QUESTION }],
        stream,
      });
      expect(findSchema(member.lastBody())).toMatchObject({
        type: expect.stringMatching(/^object$/i) as unknown,
        properties: {
          city: { type: expect.stringMatching(/^string$/i) as unknown },
          inhabitants: { type: expect.stringMatching(/^number$/i) as unknown },
        },
        required: ['city', 'inhabitants'],
      });
    },
  );

  it.each(Object.keys(HELPERS))('is rejected by %s when it has another shape', async (helper) => {
    const member = fleet.member('anthropic');
    member.answer({ text: '{"city":"Zürich"}', finish: 'stop', usage: USAGE });
    const parse = HELPERS[helper]!(fleet.gateway);
    await expect(parse(member.model, false)).rejects.toThrow(/inhabitants/);
  });
});

function answerWithValue(member: FleetMember, stream: boolean): void {
  member.respond((spelling, call) => {
    const answer = answerTo(spelling.readRequest(call).toolChoice);
    return stream ? spelling.stream(answer) : spelling.whole(answer);
  });
}

function openAiClient({ url, apiKey }: BootedGateway): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

function anthropicClient({ url, apiKey }: BootedGateway): Anthropic {
  const baseURL = `${url}/v1/anthropic`;
  return new Anthropic({ baseURL, apiKey, authToken: null, maxRetries: 0 });
}

/** For vendors without schemas, the gateway requires a tool call of that shape instead. */
function answerTo(toolChoice: unknown): ScriptedAnswer {
  const text = JSON.stringify(VALUE);
  if (typeof toolChoice !== 'object') return { text, finish: 'stop', usage: USAGE };
  const { name } = toolChoice as { name: string };
  const toolCalls = [{ id: 'call_json', name, arguments: text }];
  return { toolCalls, finish: 'tool_calls', usage: USAGE };
}

/** Returns the schema of the place from anywhere in a body, even from JSON in a string. */
function findSchema(value: unknown): { properties: object } | undefined {
  if (typeof value === 'string') {
    return value.startsWith('{') ? findSchema(JSON.parse(value)) : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { properties } = value as { properties?: object };
  if (properties && 'inhabitants' in properties) return { ...value, properties };
  for (const member of Object.values(value)) {
    const found = findSchema(member);
    if (found !== undefined) return found;
  }
  return undefined;
}
