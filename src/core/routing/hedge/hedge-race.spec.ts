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
import { chatModel, modelRoute } from '../../../../test/support/catalogue-models.js';
import {
  bad,
  error,
  GOOD,
  gpt,
  text,
  World,
  type Script,
} from '../../../../test/support/routing-environment.js';
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

  it('calls no second route when the first is fast, and leaves no timer', async () => {
    const world = new World({ openai: [slow(99)] });
    const asked = ask(world);
    await pass(99);
    expect([asked.isOver, world.called, world.hedges]).toEqual([true, ['openai'], []]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('uses the second route when its content is first, and closes the first', async () => {
    const world = new World({ openai: [slow(NEVER)], azure: [slow(50)] });
    const asked = ask(world);
    await pass(99);
    expect(world.called).toEqual(['openai']);
    await pass(1);
    expect(world.called).toEqual(['openai', 'azure']);
    await pass(50);
    expect([asked.isOver, routeIn(asked), world.closed]).toEqual([true, 'azure', ['openai']]);
    expect(attemptsOf(asked)).toEqual([
      ['openai outpaced', 'spare'],
      ['azure answered', 'hedge'],
    ]);
    expect(asked.events.filter(({ type }) => type === 'text')).toEqual([text]);
    expect([world.hedges, world.openIterations]).toEqual([['won'], 0]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('uses the first route when its content is first after all', async () => {
    const world = new World({ openai: [slow(120)], azure: [slow(NEVER)] });
    const asked = ask(world);
    await pass(120);
    expect([asked.isOver, routeIn(asked), world.closed]).toEqual([true, 'openai', ['azure']]);
    expect(attemptsOf(asked)).toEqual([['openai answered'], ['azure outpaced', 'hedge', 'spare']]);
    expect(world.hedges).toEqual(['lost']);
  });

  it('uses one of two calls whose content arrives at the same time', async () => {
    const world = new World({ openai: [slow(150)], azure: [slow(50)] });
    const asked = ask(world);
    await pass(150);
    expect(asked.isOver).toBe(true);
    expect(asked.events.filter(({ type }) => type === 'route')).toHaveLength(1);
    expect(asked.plan!.attempts.map(({ outcome }) => outcome).sort()).toEqual([
      'answered',
      'outpaced',
    ]);
    expect(world.openIterations).toBe(0);
  });

  it('ignores content from a vendor that continues after being closed', async () => {
    const world = new World({ openai: [{ ...slow(200), isDeaf: true }], azure: [slow(10)] });
    const asked = ask(world);
    await pass(110);
    expect([asked.isOver, routeIn(asked), world.openIterations]).toEqual([true, 'azure', 1]);
    await pass(200);
    expect(attemptsOf(asked)).toEqual([
      ['openai outpaced', 'spare'],
      ['azure answered', 'hedge'],
    ]);
    expect(world.openIterations).toBe(0);
  });

  it('ignores the failure of a closed call, also for the route’s health', async () => {
    const failing = { silentMs: 200, isDeaf: true, error: error('server') };
    const world = new World({ openai: Array.from({ length: 9 }, () => failing), azure: [] });
    for (let count = 0; count < 9; count++) {
      const asked = ask(world, {});
      await pass(400);
      expect(routeIn(asked)).toBe('azure');
    }
    expect(world.service.conditions().filter(({ state }) => state !== 'healthy')).toEqual([]);
  });

  it.each([
    ['a server error, retried at once', bad('server'), ['openai', 'azure', 'openai']],
    ['a timeout', bad('timeout'), ['openai', 'azure']],
  ])('continues with the second route after %s of the first', async (_, script, called) => {
    const world = new World({ openai: [slow(150, script), slow(10, script)], azure: [slow(500)] });
    const asked = ask(world);
    await pass(200);
    expect([asked.isOver, world.called, world.closed]).toEqual([false, called, []]);
    // If the caller disconnects, this is the work it pays for.
    expect(asked.plan!.upstreamCalled).toBe(true);
    expect(asked.plan!.vendorWork!.startedAt).toBe(asked.plan!.attempts[1]!.sentAt);
    await pass(400);
    expect([routeIn(asked), world.hedges]).toEqual(['azure', ['won']]);
    expect(attemptsOf(asked)[1]).toEqual(['azure answered', 'hedge']);
  });

  it('continues with the first route when the second fails, and calls no third', async () => {
    const world = new World({ openai: [slow(500)], azure: [bad('timeout')], anthropic: [GOOD] });
    const asked = ask(world, { models: ['anthropic/claude'] });
    await pass(400);
    expect([asked.isOver, world.called]).toEqual([false, ['openai', 'azure']]);
    expect(asked.plan!.vendorWork!.startedAt).toBe(asked.plan!.attempts[0]!.sentAt);
    await pass(100);
    expect([routeIn(asked), world.hedges]).toEqual(['openai', ['lost']]);
  });

  it('continues after both when both fail, and retries neither', async () => {
    const world = new World({ openai: [slow(150, bad('timeout'))], azure: [slow(10, bad('cut'))] });
    const asked = ask(world, { models: ['anthropic/claude'] });
    await pass(200);
    expect([routeIn(asked), world.called]).toEqual(['anthropic', ['openai', 'azure', 'anthropic']]);
    expect(world.hedges).toEqual(['failed']);
  });

  it('reports both when no route answers', async () => {
    const world = new World({ openai: [slow(150, bad('timeout'))], azure: [slow(99, bad('cut'))] });
    const asked = ask(world);
    await pass(200);
    expect(asked.failure).toMatchObject({ status: 502 });
    expect((asked.failure as Error).message).toMatch(/azure.*openai|openai.*azure/);
    expect(attemptsOf(asked).map(([outcome]) => outcome)).toEqual(['openai timeout', 'azure cut']);
  });

  it.each<[string, Record<string, Script[]>]>([
    ['first', { openai: [slow(150, bad('caller'))], azure: [slow(NEVER)] }],
    ['second', { openai: [slow(NEVER)], azure: [slow(50, bad('caller'))] }],
  ])('ends both when the %s rejects the request', async (_, scripts) => {
    const world = new World(scripts);
    const asked = ask(world, { models: ['anthropic/claude'] });
    await pass(150);
    expect(asked.failure).toMatchObject({ status: 400 });
    expect([world.closed.length, world.openIterations, world.called.length]).toEqual([1, 0, 2]);
  });

  it('calls the second route when the first fails early, and hedges with the third', async () => {
    const world = new World({ openai: [bad('connect')], azure: [slow(NEVER)] });
    const asked = ask(world, { models: ['anthropic/claude'] });
    await pass(99);
    expect(world.called).toEqual(['openai', 'azure']);
    await pass(1);
    expect([routeIn(asked), world.closed]).toEqual(['anthropic', ['azure']]);
  });

  it('skips a route on probation', async () => {
    const world = new World({ azure: Array.from({ length: 5 }, () => bad('timeout')), openai: [] });
    for (let count = 0; count < 5; count++) {
      ask(world, { provider: { only: ['azure'] } });
      await pass(1);
    }
    // Its pause of 30 s is over; the next call probes it.
    await pass(31_000);
    world.called.length = 0;
    world.rewrite({ openai: [slow(NEVER)], anthropic: [GOOD] });
    const asked = ask(world, { models: ['anthropic/claude'] });
    await pass(100);
    expect([routeIn(asked), world.called]).toEqual(['anthropic', ['openai', 'anthropic']]);
  });

  describe('is skipped', () => {
    it('when the credits do not cover the second route', async () => {
      const world = new World({ openai: [slow(200)] });
      const cover = { cover: jest.fn(() => Promise.resolve(false)) };
      const asked = ask(world, {}, cover);
      await pass(200);
      expect([routeIn(asked), world.called, world.hedges]).toEqual([
        'openai',
        ['openai'],
        ['uncovered'],
      ]);
      expect(cover.cover).toHaveBeenCalledTimes(1);
    });

    it('when reserving credits fails, or takes longer than the first route', async () => {
      const world = new World({ openai: [slow(200), slow(200)] });
      const failing = ask(world, {}, { cover: () => Promise.reject(new Error('no database')) });
      const late = ask(
        world,
        {},
        {
          cover: () => new Promise((resolve) => setTimeout(resolve, 500, true)),
        },
      );
      await pass(700);
      expect([routeIn(failing), routeIn(late)]).toEqual(['openai', 'openai']);
      expect([world.called, world.hedges]).toEqual([['openai', 'openai'], ['uncovered']]);
    });

    it('when the hedge share is used up', async () => {
      const world = new World({ openai: Array.from({ length: 9 }, () => slow(200)) });
      world.config.hedgePercent = 40;
      for (let count = 0; count < 9; count++) ask(world);
      await pass(300);
      expect(world.hedges.filter((outcome) => outcome === 'won')).toHaveLength(3);
      expect(world.hedges.filter((outcome) => outcome === 'over_share')).toHaveLength(6);
      world.config.hedgePercent = 0;
      expect((await world.plan({ hedge_ms: 5 })).hedgeMs).toBeUndefined();
    });

    it('when the only other routes use the same account, or there are none', async () => {
      const mini = chatModel('openai/mini', [modelRoute('openai')]);
      const world = new World({ openai: [slow(200), slow(200)] }, [gpt, mini]);
      const only = { provider: { only: ['openai'] } };
      const chain = ask(world, { ...only, models: ['openai/mini'] });
      const alone = ask(world, only);
      await pass(200);
      expect([routeIn(chain), routeIn(alone)]).toEqual(['openai', 'openai']);
      expect([world.called, world.hedges]).toEqual([['openai', 'openai'], ['no_route']]);
      expect(chain.plan!.attempts[0]!.isUnbilled).not.toBe(true);
    });
  });
});
