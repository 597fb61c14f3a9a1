import { describe, expect, it } from '@jest/globals';
import { allCallers, DIALECTS } from '../contract/callers/all-callers.js';
import type { DialectCaller } from '../contract/callers/dialect-caller.js';
import type { ScriptedAnswer } from '../contract/contract-vendor.js';
import { startFleet } from '../contract/fleet-of-suite.js';
import { FLEET_NAMES, type VendorFleet } from '../contract/vendor-fleet.js';
import { loggedRequest } from '../support/logged-request.js';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, inhabitants: { type: 'integer' } },
  required: ['city', 'inhabitants'],
  additionalProperties: false,
};
const VALUE = { city: 'Zürich', inhabitants: 443_000 };
const USAGE = { input: 30, output: 12 };

/** How each dialect asks for an answer of this shape. */
const FIELDS: Record<DialectCaller['name'], object> = {
  chat: {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'place', strict: true, schema: SCHEMA },
    },
  },
  messages: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
  responses: {
    text: { format: { type: 'json_schema', name: 'place', strict: true, schema: SCHEMA } },
  },
};

const COMBINATIONS = DIALECTS.flatMap((dialect) =>
  FLEET_NAMES.flatMap((vendor) => [false, true].map((stream) => ({ dialect, vendor, stream }))),
);

describe('an answer that has to follow a schema', () => {
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
      member.respond((spelling, call) => {
        const answer = answerTo(spelling.readRequest(call).toolChoice);
        return stream ? spelling.stream(answer) : spelling.whole(answer);
      });
      const answer = await caller.ask(member.model, stream, FIELDS[dialect]);
      expect(JSON.parse(answer.text)).toEqual(VALUE);
      expect(answer).toMatchObject({ toolCalls: [], end: caller.ends.stop });
      expect(answer.headers.get('x-gateway-dropped-params')).toBeNull();
      // Wherever the vendor wants the schema, it is whole.
      const sent = String(member.server.calls[0]!.body);
      expect(findSchema(JSON.parse(sent))).toBe(true);
      const row = await loggedRequest(fleet.gateway.database, caller.lastRequestId());
      expect(row).toMatchObject({ finish_reason: 'stop', completion_tokens: USAGE.output });
    },
  );
});

/** Where a vendor knows no schemas, the gateway demands a tool of that shape instead. */
function answerTo(toolChoice: unknown): ScriptedAnswer {
  const text = JSON.stringify(VALUE);
  if (typeof toolChoice !== 'object') return { text, finish: 'stop', usage: USAGE };
  const { name } = toolChoice as { name: string };
  const toolCalls = [{ id: 'call_json', name, arguments: text }];
  return { toolCalls, finish: 'tool_calls', usage: USAGE };
}

/** Whether the schema's properties stand somewhere in a value, be it in a text of JSON. */
function findSchema(value: unknown): boolean {
  if (typeof value === 'string' && value.startsWith('{')) return findSchema(JSON.parse(value));
  if (typeof value !== 'object' || value === null) return false;
  const { properties } = value as { properties?: object };
  if (properties && Object.keys(properties).join() === 'city,inhabitants') return true;
  return Object.values(value).some(findSchema);
}
