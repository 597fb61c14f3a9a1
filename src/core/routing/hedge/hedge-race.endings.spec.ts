import { Logger } from '@nestjs/common';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import {
  error,
  start,
  usage,
  World,
  type Script,
} from '../../../../test/support/routing-environment.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import type { Plan } from '../plan.js';
import { HedgeRace } from './hedge-race.js';
import {
  slow,
  NEVER,
  ask,
  routeIn,
  attemptsOf,
  pass,
} from '../../../../test/support/hedged-requests.js';

describe(HedgeRace.name, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  describe('when the caller disconnects', () => {
    it('closes both calls, and charges only the first', async () => {
      const world = new World({ openai: [slow(NEVER)], azure: [slow(NEVER)] });
      const asked = ask(world);
      await pass(1_100);
      expect(asked.plan!.vendorWork!.startedAt).toBe(asked.plan!.attempts[0]!.sentAt);
      world.aborter.abort();
      await pass(0);
      expect([...world.closed].sort()).toEqual(['azure', 'openai']);
      expect([asked.isOver, world.openIterations, world.hedges]).toEqual([
        true,
        0,
        ['caller_left'],
      ]);
      expect(attemptsOf(asked)).toEqual([['openai aborted'], ['azure aborted', 'hedge', 'spare']]);
      const [first, second] = asked.plan!.attempts;
      expect(first!.usage).toBeUndefined();
      // One second at the speed assumed for an unmeasured route.
      expect(second!.usage!.outputTokens).toBe(100);
      expect([asked.plan!.upstreamCalled, jest.getTimerCount()]).toEqual([true, 0]);
    });

    it('closes the hedge at once and reads the first call for a short while', async () => {
      const world = new World({ openai: [slow(300)], azure: [slow(NEVER)] });
      world.isPatient = true;
      const asked = ask(world);
      await pass(150);
      asked.plan!.endVendorCalls();
      world.aborter.abort();
      await pass(0);
      expect([world.closed, asked.isOver]).toEqual([['azure'], false]);
      await pass(150);
      expect(routeIn(asked)).toBe('openai');
    });

    it('starts no hedge afterwards', async () => {
      const world = new World({ openai: [slow(300)] });
      world.isPatient = true;
      const asked = ask(world);
      await pass(50);
      world.aborter.abort();
      await pass(250);
      expect([world.called, routeIn(asked)]).toEqual([['openai'], 'openai']);
    });
  });

  it('estimates a closed vendor’s usage from the input it reported', async () => {
    const begun = { ...NO_USAGE, inputTokens: 7, outputTokens: 1 };
    const began: CanonicalEvent = { type: 'usage', usage: begun, isPartial: true };
    const world = new World({
      openai: [{ events: [start, began], hang: true }, slow(NEVER)],
      azure: [slow(100), slow(100)],
    });
    const counted = ask(world);
    await pass(250);
    expect(counted.plan!.attempts[0]!.usage).toEqual({ ...begun, outputTokens: 20 });
    const silent = ask(world, { max_tokens: 5 });
    await pass(250);
    const [{ route, usage: used }] = silent.plan!.attempts as [Plan['attempts'][number]];
    expect(used).toMatchObject({ inputTokens: route.ceiling.inputTokens, outputTokens: 5 });
    expect(route.ceiling.inputTokens).toBeGreaterThan(0);
  });

  it('recovers a hedged answer that is interrupted', async () => {
    const words: CanonicalEvent = {
      type: 'text',
      choice: 0,
      text: 'The quick brown fox jumps over the la',
    };
    const broken: Script = { events: [start, words], error: error('reset') };
    const world = new World({
      openai: [slow(NEVER)],
      azure: [broken],
      anthropic: [{ events: [start, usage], error: error('cut') }],
    });
    const asked = ask(world, { models: ['anthropic/claude'], recovery: 'any', stream: true });
    await pass(200);
    expect(world.called).toEqual(['openai', 'azure', 'anthropic']);
    expect(asked.failure).toMatchObject({ status: 502 });
    expect(attemptsOf(asked).map(([outcome]) => outcome)).toEqual([
      'openai outpaced',
      'azure reset',
      'anthropic cut',
    ]);
  });
});
