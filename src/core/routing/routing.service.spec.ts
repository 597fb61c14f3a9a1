import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallerGoneError } from '../../platform/http/read-body.js';
import type { UpstreamCall } from '../../vendors/upstream.js';
import type { RouteCover } from './plan.js';
import { RoutingService } from './routing.service.js';
import {
  type Script,
  start,
  text,
  finish,
  usage,
  error,
  bad,
  limited,
  gpt,
  World,
  COVERS_ALL,
  CHAIN,
  GOOD,
} from '../../../test/support/routing-environment.js';

describe(RoutingService.name, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));

  describe('plan', () => {
    it('calls nobody', async () => {
      const world = new World({});
      const plan = await world.plan(CHAIN);
      expect(plan.routes.map(({ provider }) => provider)).toEqual(['openai', 'azure', 'anthropic']);
      expect(world.called).toEqual([]);
    });

    it.each<[Record<string, unknown>, object]>([
      [{ model: 'openai/nothing' }, { status: 404, param: 'model' }],
      [{ models: ['openai/nothing'] }, { status: 404, param: 'models' }],
      [{ model: 'openai/tts' }, { status: 400, param: 'model' }],
      [
        { model: undefined, models: ['openai/tts'] },
        { status: 400, param: 'models' },
      ],
      [{ provider: { only: ['nobody'] } }, { status: 404, param: 'provider' }],
      [{ service_tier: 'priority' }, { status: 400, param: 'service_tier' }],
    ])('refuses %j', async (fields, expected) => {
      await expect(new World({}).plan(fields)).rejects.toMatchObject(expected);
    });
  });

  describe('countTokens', () => {
    const world = (count?: (call: UpstreamCall) => Promise<number>): World =>
      new World({}, [gpt], count);
    const countIn = async (some: World): Promise<unknown> =>
      some.service.countTokens(await some.plan());

    it('asks the first route, briefly, and generates nothing', async () => {
      let asked: UpstreamCall | undefined;
      const some = world((call) => {
        asked = call;
        return Promise.resolve(0);
      });
      expect(await countIn(some)).toEqual({ tokens: 0, provider: 'openai' });
      expect(asked).toMatchObject({ alias: 'openai/gpt', upstreamModel: 'openai-model' });
      expect(asked!.limits.requestMs).toBeLessThanOrEqual(10_000);
      expect(some.called).toEqual([]);
    });

    it.each([
      ['counts none', undefined],
      ['is overloaded', () => Promise.reject(error('server'))],
      ['does not answer', () => Promise.reject(error('timeout'))],
      ['refuses the operator’s key', () => Promise.reject(error('operator'))],
    ])('knows nothing when the vendor %s', async (_name, count) => {
      expect(await countIn(world(count))).toBeUndefined();
    });

    it('tells the caller of a request that is bad', async () => {
      const fields = { message: 'too many tools', param: 'tools' };
      const some = world(() => Promise.reject(error('caller', fields)));
      await expect(countIn(some)).rejects.toMatchObject({ status: 400, ...fields });
    });

    it('ends with its caller', async () => {
      const some = world(() => {
        some.aborter.abort();
        return Promise.reject(new Error('aborted'));
      });
      await expect(countIn(some)).rejects.toBeInstanceOf(CallerGoneError);
    });
  });

  it('passes an answer on behind the route that gives it', async () => {
    const world = new World({});
    const { events, failure, outcomes } = await world.open();
    expect(failure).toBeUndefined();
    expect(events).toEqual([
      {
        type: 'route',
        route: expect.objectContaining({ model: 'openai/gpt', provider: 'openai' }) as unknown,
        droppedParams: ['dropped by openai for openai-model'],
      },
      start,
      text,
      finish,
      usage,
    ]);
    expect(outcomes).toEqual(['answered']);
    expect(world.calls[0]).toMatchObject({
      alias: 'openai/gpt',
      upstreamModel: 'openai-model',
      signal: expect.objectContaining({ aborted: false }) as unknown,
    });
  });

  it('calls nobody before the first pull', async () => {
    const world = new World({});
    const events = world.service.open(await world.plan(), COVERS_ALL);
    expect(world.called).toEqual([]);
    await events.next();
    expect(world.called).toEqual(['openai']);
    await events.return();
    expect(world.openIterations).toBe(0);
  });

  describe('cover', () => {
    /** Covers all but some providers, and remembers who was asked about. */
    function coverBut(...uncovered: string[]) {
      const asked: string[] = [];
      const cover: RouteCover = {
        cover: ({ provider }) => {
          asked.push(provider);
          return Promise.resolve(!uncovered.includes(provider));
        },
      };
      return { cover, asked };
    }

    it('is asked for each further route just before it is called', async () => {
      const world = new World({ openai: [bad('operator')] });
      const { cover, asked } = coverBut();
      await world.open(CHAIN, cover);
      expect(asked).toEqual(['azure']);
      expect(world.called).toEqual(['openai', 'azure']);
    });

    it('that does not reach skips the route', async () => {
      const world = new World({ openai: [bad('operator')] });
      const { cover } = coverBut('azure');
      const { outcomes, events } = await world.open(CHAIN, cover);
      expect(world.called).toEqual(['openai', 'anthropic']);
      expect(outcomes).toEqual(['operator', 'uncovered', 'answered']);
      expect(events[0]).toMatchObject({ route: { provider: 'anthropic' } });
    });

    it('that reaches for nothing leaves the first failure to tell', async () => {
      const world = new World({ openai: [bad('timeout')] });
      const { cover } = coverBut('azure', 'anthropic');
      const { failure } = await world.open(CHAIN, cover);
      expect(failure).toMatchObject({ status: 504 });
      expect((failure as Error).message).not.toContain('azure');
    });

    it('that does not reach still leaves a Retry-After to wait out', async () => {
      const world = new World({ openai: [limited(20)] });
      const { cover } = coverBut('azure', 'anthropic');
      const { events } = await world.open(CHAIN, cover);
      expect(world.called).toEqual(['openai', 'openai']);
      expect(events[0]).toMatchObject({ route: { provider: 'openai' } });
    });

    it('that fails ends the request', async () => {
      const world = new World({ openai: [bad('operator')] });
      const cover: RouteCover = { cover: () => Promise.reject(new Error('no database')) };
      expect((await world.open({}, cover)).failure).toMatchObject({ message: 'no database' });
      expect(world.called).toEqual(['openai']);
    });
  });

  describe('a caller who leaves', () => {
    it('before the call costs nothing', async () => {
      const world = new World({});
      world.aborter.abort();
      const { failure, plan } = await world.open();
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(world.called).toEqual([]);
      expect(plan.upstreamCalled).toBe(false);
    });

    it('while a vendor is silent ends the call, and no other is made', async () => {
      const world = new World({ openai: [{ hang: true }] });
      setTimeout(() => world.aborter.abort(), 20);
      const { failure, plan, outcomes } = await world.open(CHAIN);
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(outcomes).toEqual(['aborted']);
      expect(plan.upstreamCalled).toBe(true);
    });

    it('between two routes is noticed', async () => {
      const world = new World({ openai: [bad('operator')] });
      const cover: RouteCover = {
        cover: () => {
          world.aborter.abort();
          return Promise.resolve(true);
        },
      };
      const { failure, plan } = await world.open({}, cover);
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(world.called).toEqual(['openai']);
      expect(plan.upstreamCalled).toBe(false);
    });

    it('does not wait for a Retry-After', async () => {
      const world = new World({ openai: [limited(9_000)], azure: [limited(9_000)] });
      setTimeout(() => world.aborter.abort(), 30);
      const startedMs = performance.now();
      const { failure, plan } = await world.open();
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(performance.now() - startedMs).toBeLessThan(7_000);
      expect(plan.upstreamCalled).toBe(false);
    });

    it('in the middle of an answer ends it as gone, not as broken', async () => {
      const world = new World({ openai: [{ events: [start, text], hang: true }] });
      setTimeout(() => world.aborter.abort(), 20);
      const { failure, plan } = await world.open();
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(plan.upstreamCalled).toBe(true);
    });

    it('pays nothing to a vendor that refuses meanwhile, and no other is asked', async () => {
      const world = new World({ openai: [{ ...bad('rate_limited'), delayMs: 30 }] });
      world.isPatient = true;
      setTimeout(() => world.aborter.abort(), 5);
      const { failure, plan, outcomes } = await world.open(CHAIN);
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(outcomes).toEqual(['rate_limited']);
      expect(plan.upstreamCalled).toBe(false);
    });

    it('hears a vendor to its end that is listened to', async () => {
      const world = new World({ openai: [{ events: GOOD.events!, delayMs: 30 }] });
      world.isPatient = true;
      setTimeout(() => world.aborter.abort(), 5);
      const { failure, events, plan } = await world.open(CHAIN);
      expect(failure).toBeUndefined();
      expect(events.at(-1)).toMatchObject({ type: 'usage' });
      expect(plan.upstreamCalled).toBe(true);
    });

    it('is not held against the route', async () => {
      const world = new World({ openai: Array<Script>(6).fill({ hang: true }) });
      for (let count = 0; count < 6; count++) {
        world.aborter = new AbortController();
        setTimeout(() => world.aborter.abort(), 5);
        await world.open();
      }
      expect(world.called).toEqual(Array(6).fill('openai'));
    });
  });

  it('closes the call of a reader who stops reading', async () => {
    for (const pulls of [1, 2, 3]) {
      const world = new World({});
      const events = world.service.open(await world.plan(), COVERS_ALL);
      for (let count = 0; count < pulls; count++) await events.next();
      expect(world.openIterations).toBe(1);
      await events.return();
      expect(world.openIterations).toBe(0);
    }
  });

  describe('health', () => {
    it('leaves a route alone that failed five times in a row', async () => {
      const world = new World({ openai: Array<Script>(5).fill(bad('timeout')) });
      for (let count = 0; count < 5; count++) await world.open();
      world.called.length = 0;
      await world.open();
      expect(world.called).toEqual(['azure']);
    });

    it('leaves a route alone for as long as it asks', async () => {
      const world = new World({ openai: [limited(60_000)] });
      await world.open();
      world.called.length = 0;
      await world.open();
      expect(world.called).toEqual(['azure']);
    });
  });
});
