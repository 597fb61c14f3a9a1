import { describe, expect, it } from '@jest/globals';
import { allCallers, DIALECTS } from '../contract/callers/all-callers.js';
import type { DialectCaller } from '../contract/callers/dialect-caller.js';
import type { ScriptedAnswer } from '../contract/contract-vendor.js';
import { startFleet } from '../contract/fleet-of-suite.js';
import { costOf, FLEET_NAMES, type VendorFleet } from '../contract/vendor-fleet.js';
import { loggedRequest } from '../support/logged-request.js';

const ANSWER: ScriptedAnswer = {
  text: 'Hello from afar.',
  finish: 'stop',
  usage: { input: 100, output: 10, cacheRead: 20 },
};

/** Each dialect's events in order, without a trace of the first vendor. */
const EVENTS: Record<DialectCaller['name'], string[]> = {
  chat: [],
  messages: [
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ],
  responses: [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.output_item.done',
    'response.completed',
  ],
};

/** A relayed stream announces its parts, too. */
const PART_EVENTS = ['response.content_part.added', 'response.content_part.done'];

const PAIRS = DIALECTS.flatMap((dialect) =>
  FLEET_NAMES.flatMap((begins, index) => {
    const answers = FLEET_NAMES[(index + 1) % FLEET_NAMES.length]!;
    return { dialect, begins, answers };
  }),
);

describe('a stream that one vendor starts without content and another completes', () => {
  let fleet: VendorFleet;
  let callers: Record<DialectCaller['name'], DialectCaller>;

  startFleet((started) => {
    fleet = started;
    callers = allCallers(fleet.gateway);
  });

  it.each(PAIRS)('$dialect: started by $begins, answered by $answers', async (pair) => {
    const first = fleet.member(pair.begins);
    const next = fleet.member(pair.answers);
    const caller = callers[pair.dialect];
    const models = { models: [next.model] };
    next.answer(ANSWER);

    first.failMidStream('');
    const watched = await caller.watch(first.model, models);
    expect(watched.failure).toBeUndefined();
    expect(watched.text).toBe(ANSWER.text);
    expect(watched.types.filter((type) => !PART_EVENTS.includes(type))).toEqual(
      EVENTS[pair.dialect],
    );
    expect(first.server.calls.length).toBeGreaterThan(0);
    await expectCharged(caller);

    // Cut before any content, and read by the client's own helper.
    first.cutStream();
    const answer = await caller.ask(first.model, true, models);
    expect(answer).toMatchObject({ text: ANSWER.text, model: next.model });
    expect(answer.headers.get('x-gateway-provider')).toBe(next.provider);
    await expectCharged(caller);

    async function expectCharged({ lastRequestId }: DialectCaller): Promise<void> {
      expect(await loggedRequest(fleet.gateway.database, lastRequestId())).toMatchObject({
        model: next.model,
        provider: next.provider,
        outcome: 'completed',
        finish_reason: 'stop',
        prompt_tokens: ANSWER.usage.input,
        completion_tokens: ANSWER.usage.output,
        cost: costOf(ANSWER.usage),
      });
    }
  });
});
