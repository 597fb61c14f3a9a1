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
    it('calls no vendor', async () => {
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
    ])('rejects %j', async (fields, expected) => {
      await expect(new World({}).plan(fields)).rejects.toMatchObject(expected);
    });
  });

  describe('countTokens', () => {
    const world = (count?: (call: UpstreamCall) => Promise<number>): World =>
      new World({}, [gpt], count);
    const countIn = async (some: World): Promise<unknown> =>
      some.service.countTokens(await some.plan());

    it('asks the first route with a short limit, and generates nothing', async () => {
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
      ['does not count', undefined],
      ['is overloaded', () => Promise.reject(error('server'))],
      ['does not answer', () => Promise.reject(error('timeout'))],
      ['rejects the operator’s key', () => Promise.reject(error('operator'))],
    ])('returns undefined when the vendor %s', async (_name, count) => {
      expect(await countIn(world(count))).toBeUndefined();
    });

    it('throws for a bad request', async () => {
      const fields = { message: 'too many tools', param: 'tools' };
      const some = world(() => Promise.reject(error('caller', fields)));
      await expect(countIn(some)).rejects.toMatchObject({ status: 400, ...fields });
    });

    it('ends when its caller disconnects', async () => {
      const some = world(() => {
        some.aborter.abort();
        return Promise.reject(new Error('aborted'));
      });
      await expect(countIn(some)).rejects.toBeInstanceOf(CallerGoneError);
    });
  });

  it('yields the answering route before its answer', async () => {
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

  it('calls no vendor before the first pull', async () => {
    const world = new World({});
    const events = world.service.open(await world.plan(), COVERS_ALL);
    expect(world.called).toEqual([]);
    await events.next();
    expect(world.called).toEqual(['openai']);
    await events.return();
    expect(world.openIterations).toBe(0);
  });

  describe('cover', () => {
    /** Covers all but some providers, and records the requests. */
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

    it('is requested for each further route just before its call', async () => {
      const world = new World({ openai: [bad('operator')] });
      const { cover, asked } = coverBut();
      await world.open(CHAIN, cover);
      expect(asked).toEqual(['azure']);
      expect(world.called).toEqual(['openai', 'azure']);
    });

    it('that is refused skips the route', async () => {
      const world = new World({ openai: [bad('operator')] });
      const { cover } = coverBut('azure');
      const { outcomes, events } = await world.open(CHAIN, cover);
      expect(world.called).toEqual(['openai', 'anthropic']);
      expect(outcomes).toEqual(['operator', 'uncovered', 'answered']);
      expect(events[0]).toMatchObject({ route: { provider: 'anthropic' } });
    });

    it('that is always refused leaves the first failure to report', async () => {
      const world = new World({ openai: [bad('timeout')] });
      const { cover } = coverBut('azure', 'anthropic');
      const { failure } = await world.open(CHAIN, cover);
      expect(failure).toMatchObject({ status: 504 });
      expect((failure as Error).message).not.toContain('azure');
    });

    it('that is refused still allows waiting for Retry-After', async () => {
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

  describe('a disconnected caller', () => {
    it('costs nothing before the call', async () => {
      const world = new World({});
      world.aborter.abort();
      const { failure, plan } = await world.open();
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(world.called).toEqual([]);
      expect(plan.upstreamCalled).toBe(false);
    });

    it('ends the call while a vendor is silent, without another call', async () => {
      const world = new World({ openai: [{ hang: true }] });
      setTimeout(() => world.aborter.abort(), 20);
      const { failure, plan, outcomes } = await world.open(CHAIN);
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(outcomes).toEqual(['aborted']);
      expect(plan.upstreamCalled).toBe(true);
    });

    it('is noticed between two routes', async () => {
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

    it('does not wait for Retry-After', async () => {
      const world = new World({ openai: [limited(9_000)], azure: [limited(9_000)] });
      setTimeout(() => world.aborter.abort(), 30);
      const startedMs = performance.now();
      const { failure, plan } = await world.open();
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(performance.now() - startedMs).toBeLessThan(7_000);
      expect(plan.upstreamCalled).toBe(false);
    });

    it('ends an answer as gone, not as interrupted', async () => {
      const world = new World({ openai: [{ events: [start, text], hang: true }] });
      setTimeout(() => world.aborter.abort(), 20);
      const { failure, plan } = await world.open();
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(plan.upstreamCalled).toBe(true);
    });

    it('pays nothing to a vendor that fails meanwhile, and no other is called', async () => {
      const world = new World({ openai: [{ ...bad('rate_limited'), delayMs: 30 }] });
      world.isPatient = true;
      setTimeout(() => world.aborter.abort(), 5);
      const { failure, plan, outcomes } = await world.open(CHAIN);
      expect(failure).toBeInstanceOf(CallerGoneError);
      expect(outcomes).toEqual(['rate_limited']);
      expect(plan.upstreamCalled).toBe(false);
    });

    it('has a vendor read to its end if it is worth it', async () => {
      const world = new World({ openai: [{ events: GOOD.events!, delayMs: 30 }] });
      world.isPatient = true;
      setTimeout(() => world.aborter.abort(), 5);
      const { failure, events, plan } = await world.open(CHAIN);
      expect(failure).toBeUndefined();
      expect(events.at(-1)).toMatchObject({ type: 'usage' });
      expect(plan.upstreamCalled).toBe(true);
    });

    it('does not affect the route’s health', async () => {
      const world = new World({ openai: Array<Script>(6).fill({ hang: true }) });
      for (let count = 0; count < 6; count++) {
        world.aborter = new AbortController();
        setTimeout(() => world.aborter.abort(), 5);
        await world.open();
      }
      expect(world.called).toEqual(Array(6).fill('openai'));
    });
  });

  it('closes the call when the reader stops', async () => {
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
    it('pauses a route after five failures in a row', async () => {
      const world = new World({ openai: Array<Script>(5).fill(bad('timeout')) });
      for (let count = 0; count < 5; count++) await world.open();
      world.called.length = 0;
      await world.open();
      expect(world.called).toEqual(['azure']);
    });

    it('pauses a route for as long as its vendor asks', async () => {
      const world = new World({ openai: [limited(60_000)] });
      await world.open();
      world.called.length = 0;
      await world.open();
      expect(world.called).toEqual(['azure']);
    });
  });
});
