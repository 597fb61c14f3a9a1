import { afterAll, describe, expect, it } from '@jest/globals';
import { allCallers, DIALECTS } from '../contract/callers/all-callers.js';
import type { CallerAnswer, DialectCaller } from '../contract/callers/dialect-caller.js';
import {
  LAST_WORD,
  QUESTION,
  RESULTS,
  SYSTEM,
  TWO_CALLS,
} from '../contract/contract-conversation.js';
import { ContractReport } from '../contract/contract-report.js';
import type { ReadRequest, ScriptedAnswer } from '../contract/contract-vendor.js';
import { startFleet } from '../contract/fleet-of-suite.js';
import {
  costOf,
  FLEET_NAMES,
  type VendorFleet,
  type FleetMember,
} from '../contract/vendor-fleet.js';
import { loggedRequest } from '../support/logged-request.js';

const CALLS = TWO_CALLS.toolCalls!.map(({ name, arguments: args }) => ({
  name,
  arguments: JSON.parse(args) as unknown,
}));

/** The first request that every vendor must receive, in any dialect. */
const FIRST_REQUEST: Omit<ReadRequest, 'stream' | 'toolChoice'> = {
  system: SYSTEM,
  turns: [{ role: 'user', text: QUESTION, toolCalls: [], toolResults: [] }],
  tools: ['get_weather', 'get_time'],
  maxOutputTokens: 256,
  temperature: undefined,
  stop: [],
};

const SECOND_REQUEST: typeof FIRST_REQUEST = {
  ...FIRST_REQUEST,
  turns: [
    ...FIRST_REQUEST.turns,
    { role: 'assistant', text: TWO_CALLS.text!, toolCalls: CALLS, toolResults: [] },
    { role: 'user', text: '', toolCalls: [], toolResults: [...RESULTS] },
  ],
};

describe('one conversation in every dialect with every vendor', () => {
  const report = new ContractReport();
  let fleet: VendorFleet;
  let callers: Record<DialectCaller['name'], DialectCaller>;

  startFleet((started) => {
    fleet = started;
    callers = allCallers(fleet.gateway);
  });
  afterAll(() => report.print());

  const combinations = FLEET_NAMES.flatMap((vendor) =>
    DIALECTS.flatMap((dialect) =>
      ([false, true] as const).map((stream) => ({
        vendor,
        dialect,
        stream,
        kind: stream ? ('streamed' as const) : ('whole' as const),
      })),
    ),
  );

  it.each(combinations)('$dialect, $vendor, $kind', ({ vendor, dialect, stream, kind }) =>
    report.note(vendor, dialect, kind, async () => {
      const member = fleet.member(vendor);
      const caller = callers[dialect];
      member.answer(TWO_CALLS);
      const first = await caller.open(member.model, stream);
      expectAsked(member, FIRST_REQUEST, stream);
      expectAnswer(first, TWO_CALLS, caller, member);
      await expectBooked(first, TWO_CALLS, member, stream);

      member.answer(LAST_WORD);
      const second = await caller.answerTools(member.model, stream, [first]);
      expectAsked(member, SECOND_REQUEST, stream);
      expectAnswer(second, LAST_WORD, caller, member);
      await expectBooked(second, LAST_WORD, member, stream);
      expect(member.server.calls).toHaveLength(2);
    }),
  );

  function expectAsked(member: FleetMember, expected: typeof FIRST_REQUEST, stream: boolean): void {
    const { toolChoice, ...request } = member.lastRequest();
    expect(request).toEqual({ ...expected, stream });
    // Some vendors need the default to be explicit.
    expect([undefined, 'auto']).toContain(toolChoice);
  }

  function expectAnswer(
    answer: CallerAnswer,
    scripted: ScriptedAnswer,
    caller: DialectCaller,
    { model, provider }: FleetMember,
  ): void {
    expect(answer.text).toBe(scripted.text);
    expect(answer.toolCalls.map(({ id: _id, ...call }) => call)).toEqual(
      scripted.toolCalls ? CALLS : [],
    );
    expect(new Set(answer.toolCalls.map(({ id }) => id)).size).toBe(answer.toolCalls.length);
    expect(answer.end).toBe(caller.ends[scripted.finish]);
    const { input, output, cacheRead = 0 } = scripted.usage;
    expect(answer.usage).toEqual({ input, output, cacheRead });
    expect(answer.model).toBe(model);
    expect(answer.headers.get('x-gateway-provider')).toBe(provider);
    expect(answer.headers.get('x-gateway-dropped-params')).toBeNull();
  }

  /** Checks that the log row and the generation record match the answer. */
  async function expectBooked(
    { headers }: CallerAnswer,
    { finish, usage }: ScriptedAnswer,
    { model, provider }: FleetMember,
    streamed: boolean,
  ): Promise<void> {
    const cost = costOf(usage);
    expect(headers.get('x-gateway-cost')).toBe(streamed ? null : String(cost));
    const id = headers.get('x-request-id')!;
    expect(await loggedRequest(fleet.gateway.database, id)).toMatchObject({
      model,
      provider,
      outcome: 'completed',
      status: 'success',
      usage_source: 'upstream',
      finish_reason: finish,
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      cache_read_tokens: usage.cacheRead ?? 0,
      cost,
    });
    const record = await fleet.gateway.fetch(`/v1/generation?id=${id}`);
    expect(await record.json()).toMatchObject({
      data: {
        id,
        model,
        provider_name: provider,
        native_tokens_prompt: usage.input,
        native_tokens_completion: usage.output,
        finish_reason: finish,
        streamed,
        cancelled: false,
        total_cost: cost,
      },
    });
  }
});
