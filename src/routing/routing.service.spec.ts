import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../test/support/catalogue-models.js';
import { chatRequest } from '../../test/support/chat-requests.js';
import type { Caller } from '../access/caller.js';
import type { AnswerCache } from '../cache/answer-cache.service.js';
import type { CanonicalEvent } from '../canonical/canonical-event.js';
import { NO_USAGE } from '../canonical/usage.js';
import type { CatalogueService } from '../catalogue/catalogue.service.js';
import type { Model } from '../catalogue/model.js';
import type { AppConfig } from '../common/config/app-config.js';
import { CallerGoneError } from '../common/http/read-body.js';
import type { OwnUpstreams } from '../credentials/own-upstreams.service.js';
import type { GatewayMetrics } from '../metrics/gateway-metrics.js';
import {
  UpstreamError,
  type UpstreamErrorFields,
  type UpstreamFailure,
} from '../upstream/upstream-error.js';
import type { UpstreamRegistry } from '../upstream/upstream.registry.js';
import type { UpstreamCall } from '../upstream/upstream.js';
import type { Plan, RouteCover } from './plan.js';
import { RoutingService } from './routing.service.js';

/** One call's answer: its events, and how it fails if it does; `hang` waits for the caller to go. */
interface Script {
  events?: CanonicalEvent[];
  error?: UpstreamError;
  hang?: boolean;
}

const start: CanonicalEvent = { type: 'start', id: 'x' };
const text: CanonicalEvent = { type: 'text', choice: 0, text: 'Hi' };
const finish: CanonicalEvent = { type: 'finish', choice: 0, reason: 'stop' };
const usage: CanonicalEvent = { type: 'usage', usage: { ...NO_USAGE, inputTokens: 3 } };
const GOOD: Script = { events: [start, text, finish, usage] };

const error = (failure: UpstreamFailure, fields: Partial<UpstreamErrorFields> = {}) =>
  new UpstreamError({ failure, message: `vendor: ${failure}`, ...fields });
const bad = (failure: UpstreamFailure, fields: Partial<UpstreamErrorFields> = {}): Script => ({
  error: error(failure, fields),
});
const limited = (retryAfterMs: number): Script => bad('rate_limited', { retryAfterMs });

const gpt = chatModel('openai/gpt', [modelRoute('openai'), modelRoute('azure')]);
const claude = chatModel('anthropic/claude', [modelRoute('anthropic')]);
const speech = chatModel('openai/tts', [modelRoute('openai')], { kind: 'speech' });

class World {
  /** Calls in order, by provider. */
  readonly called: string[] = [];
  readonly calls: UpstreamCall[] = [];
  /** Iterations that are not over: neither ended, nor failed, nor returned. */
  openIterations = 0;
  readonly service: RoutingService;
  aborter = new AbortController();

  constructor(
    private readonly scripts: Record<string, Script[]>,
    models: Model[] = [gpt, claude, speech],
    private readonly countTokens?: (call: UpstreamCall) => Promise<number>,
  ) {
    const config = {
      limits: {
        firstByteTimeoutMs: undefined,
        idleTimeoutMs: 60_000,
        requestTimeoutMs: 600_000,
        cooldownMs: 30_000,
      },
    } as unknown as AppConfig;
    this.service = new RoutingService(
      config,
      { find: (id: string) => models.find((model) => model.id === id) } as CatalogueService,
      {
        has: () => true,
        get: (provider: string) => ({
          droppedParams: (_request: unknown, { upstreamModel }: { upstreamModel: string }) => [
            `dropped by ${provider} for ${upstreamModel}`,
          ],
          generate: (call: UpstreamCall) => this.iterate(provider, call),
          ...(this.countTokens && { countTokens: this.countTokens }),
        }),
      } as unknown as UpstreamRegistry,
      { observeAttempt: () => undefined, track: () => undefined } as unknown as GatewayMetrics,
      { of: () => [] } as unknown as OwnUpstreams,
      {} as AnswerCache,
    );
  }

  plan(fields: Record<string, unknown> = {}, receivedAt = new Date()): Promise<Plan> {
    const request = chatRequest({ model: 'openai/gpt', ...fields });
    const context = {
      requestId: 'id',
      endpoint: 'chat',
      receivedAt,
      callerGone: this.aborter.signal,
    };
    return this.service.plan({} as Caller, request, context);
  }

  async open(fields: Record<string, unknown> = {}, cover: RouteCover = COVERS_ALL) {
    const plan = await this.plan(fields);
    const events: CanonicalEvent[] = [];
    let failure: unknown;
    try {
      for await (const event of this.service.open(plan, cover)) events.push(event);
    } catch (thrown) {
      failure = thrown;
    }
    expect(this.openIterations).toBe(0);
    return { plan, events, failure, outcomes: plan.attempts.map(({ outcome }) => outcome) };
  }

  /** No generator, so that it is seen whether what was begun is also ended. */
  private iterate(provider: string, call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    let script: Script | undefined;
    let events: CanonicalEvent[] = [];
    let isOver = false;
    const end = (): IteratorResult<CanonicalEvent> => {
      if (script && !isOver) this.openIterations--;
      isOver = true;
      return { done: true, value: undefined };
    };
    const begin = (): Script => {
      this.called.push(provider);
      this.calls.push(call);
      this.openIterations++;
      const next = this.scripts[provider]?.shift() ?? GOOD;
      events = [...(next.events ?? [])];
      return next;
    };
    const next = async (): Promise<IteratorResult<CanonicalEvent>> => {
      script ??= begin();
      const event = events.shift();
      if (event) return { done: false, value: event };
      if (isOver) return end();
      if (script.hang) {
        await new Promise((resolve) =>
          call.signal.addEventListener('abort', () => resolve(undefined)),
        );
      }
      const result = end();
      if (script.hang) throw new Error('The call was aborted.');
      if (script.error) throw script.error;
      return result;
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: () => Promise.resolve(end()) }) };
  }
}

const COVERS_ALL: RouteCover = { cover: () => Promise.resolve(true) };
const CHAIN = { models: ['anthropic/claude'] };

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
      signal: world.aborter.signal,
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

  it('leaves a call only what is left of the request’s time', async () => {
    const world = new World({ openai: [bad('timeout')] });
    const plan = await world.plan({}, new Date(Date.now() - 590_000));
    for await (const _ of world.service.open(plan, COVERS_ALL));
    for (const { limits } of world.calls) {
      expect(limits.requestMs).toBeGreaterThan(9_000);
      expect(limits.requestMs).toBeLessThanOrEqual(10_000);
    }
    const late = await world.plan({}, new Date(Date.now() - 700_000));
    for await (const _ of world.service.open(late, COVERS_ALL));
    expect(world.calls.at(-1)?.limits.requestMs).toBe(1);
  });

  describe('before the first content', () => {
    it.each<[UpstreamFailure, string[]]>([
      ['connect', ['openai', 'azure']],
      ['timeout', ['openai', 'azure']],
      ['operator', ['openai', 'azure']],
      ['unreadable', ['openai', 'azure']],
      ['cut', ['openai', 'azure']],
      ['context_length', ['openai', 'azure']],
      ['rate_limited', ['openai', 'azure']],
      ['reset', ['openai', 'openai', 'azure']],
      ['server', ['openai', 'openai', 'azure']],
    ])('goes on to the next route after %s', async (failure, called) => {
      const world = new World({ openai: [bad(failure), bad(failure)] });
      const { events, outcomes } = await world.open();
      expect(world.called).toEqual(called);
      expect(events[0]).toMatchObject({ type: 'route', route: { provider: 'azure' } });
      expect(events.filter(({ type }) => type === 'text')).toHaveLength(1);
      expect(outcomes).toEqual([...called.slice(1).map(() => failure), 'answered']);
    });

    it('shows nothing of the routes that failed', async () => {
      const world = new World({
        openai: [{ events: [{ type: 'start', id: 'failed' }], error: error('cut') }],
      });
      const { events } = await world.open();
      expect(events.filter(({ type }) => type === 'start')).toEqual([start]);
    });

    it.each<[string, Script]>([
      ['nothing', { events: [] }],
      ['a start and usage only', { events: [start, usage] }],
      ['empty text', { events: [start, { type: 'text', choice: 0, text: '' }] }],
    ])('takes an answer of %s for none', async (_, script) => {
      const world = new World({ openai: [script] });
      const { outcomes } = await world.open();
      expect(outcomes).toEqual(['unreadable', 'answered']);
    });

    it('answers when the quick second try does', async () => {
      const world = new World({ openai: [bad('server')] });
      const { events, outcomes } = await world.open();
      expect(world.called).toEqual(['openai', 'openai']);
      expect(events[0]).toMatchObject({ route: { provider: 'openai' } });
      expect(outcomes).toEqual(['server', 'answered']);
    });

    it('does not try again at once where the vendor asks to wait', async () => {
      const world = new World({ openai: [bad('server', { retryAfterMs: 60_000 })] });
      await world.open();
      expect(world.called).toEqual(['openai', 'azure']);
    });

    it('passes a bad request back at once', async () => {
      const world = new World({ openai: [bad('caller', { param: 'stop' })] });
      const { failure, events } = await world.open(CHAIN);
      expect(failure).toMatchObject({ status: 400, param: 'stop', message: 'vendor: caller' });
      expect(world.called).toEqual(['openai']);
      expect(events).toEqual([]);
    });

    it('passes a bad request back that a second try found', async () => {
      const world = new World({ openai: [bad('server'), bad('caller')] });
      expect((await world.open(CHAIN)).failure).toMatchObject({ status: 400 });
      expect(world.called).toEqual(['openai', 'openai']);
    });

    it('says what was tried when no route answers', async () => {
      const world = new World({
        openai: [bad('server'), bad('server')],
        azure: [bad('operator')],
        anthropic: [bad('connect')],
      });
      const { failure, outcomes } = await world.open(CHAIN);
      expect(failure).toMatchObject({ status: 502, type: 'provider_error' });
      expect(outcomes).toEqual(['server', 'server', 'operator', 'connect']);
    });

    it('tries exactly one route when fallbacks are off', async () => {
      const world = new World({ openai: [bad('connect')] });
      const { failure } = await world.open({ ...CHAIN, provider: { allow_fallbacks: false } });
      expect(failure).toMatchObject({ status: 502 });
      expect(world.called).toEqual(['openai']);
    });

    it('does not hide a fault of its own behind a fallback', async () => {
      const world = new World({ openai: [{ error: new TypeError('bug') as never }] });
      expect((await world.open()).failure).toBeInstanceOf(TypeError);
      expect(world.called).toEqual(['openai']);
    });
  });

  describe('after the first content', () => {
    it.each<[UpstreamFailure, object]>([
      ['cut', { status: 502, type: 'provider_error' }],
      ['reset', { status: 502 }],
      ['server', { status: 502 }],
      ['timeout', { status: 504, type: 'timeout_error' }],
    ])('never goes on to another route: %s', async (failing, expected) => {
      const world = new World({ openai: [{ events: [start, text], error: error(failing) }] });
      const { events, failure, outcomes } = await world.open(CHAIN);
      expect(failure).toMatchObject(expected);
      expect(events.map(({ type }) => type)).toEqual(['route', 'start', 'text']);
      expect(world.called).toEqual(['openai']);
      expect(outcomes).toEqual([failing]);
    });
  });

  describe('Retry-After', () => {
    it('is not waited out while another provider has the model', async () => {
      const world = new World({ openai: [limited(1_500)] });
      const startedMs = performance.now();
      await world.open();
      expect(world.called).toEqual(['openai', 'azure']);
      expect(performance.now() - startedMs).toBeLessThan(1_000);
    });

    it('of a moment is waited out before leaving for another model', async () => {
      const world = new World({ openai: [limited(60)], azure: [limited(30)] });
      const startedMs = performance.now();
      const { events } = await world.open(CHAIN);
      expect(performance.now() - startedMs).toBeGreaterThanOrEqual(25);
      expect(world.called).toEqual(['openai', 'azure', 'azure']);
      expect(events[0]).toMatchObject({ route: { provider: 'azure' } });
    });

    it('is waited out once, then the next model is asked', async () => {
      const world = new World({ openai: [limited(30)], azure: [limited(20), limited(20)] });
      await world.open(CHAIN);
      expect(world.called).toEqual(['openai', 'azure', 'azure', 'anthropic']);
    });

    it('of more than 2 s is not waited out before another model', async () => {
      const world = new World({ openai: [limited(2_001)], azure: [limited(60_000)] });
      const startedMs = performance.now();
      await world.open(CHAIN);
      expect(world.called).toEqual(['openai', 'azure', 'anthropic']);
      expect(performance.now() - startedMs).toBeLessThan(1_000);
    });

    it('is waited out before giving up', async () => {
      const world = new World({ openai: [limited(50)], azure: [limited(20)] });
      const { events, outcomes } = await world.open();
      expect(world.called).toEqual(['openai', 'azure', 'azure']);
      expect(outcomes).toEqual(['rate_limited', 'rate_limited', 'answered']);
      expect(events[0]).toMatchObject({ route: { provider: 'azure' } });
    });

    it('of any model is waited out before giving up', async () => {
      const world = new World({
        openai: [limited(2_050), GOOD],
        azure: [bad('operator')],
        anthropic: [bad('operator')],
      });
      const { events } = await world.open(CHAIN);
      expect(world.called).toEqual(['openai', 'azure', 'anthropic', 'openai']);
      expect(events[0]).toMatchObject({ route: { provider: 'openai' } });
    });

    it('counts as the route gave it last', async () => {
      const world = new World({
        openai: [limited(20), bad('operator')],
        azure: [bad('operator')],
        anthropic: [bad('operator')],
      });
      const { failure } = await world.open(CHAIN);
      expect(failure).toMatchObject({ status: 502 });
      expect(world.called).toEqual(['openai', 'azure', 'openai', 'anthropic']);
    });

    it('of more than 10 s is passed on instead', async () => {
      const world = new World({ openai: [limited(10_001)], azure: [limited(20_000)] });
      expect((await world.open()).failure).toMatchObject({ status: 429, retryAfterSeconds: 11 });
      expect(world.called).toEqual(['openai', 'azure']);
    });

    it('ends in the caller’s own fault when the late try finds one', async () => {
      const late = new World({ openai: [limited(10), bad('caller')], azure: [bad('operator')] });
      expect((await late.open(CHAIN)).failure).toMatchObject({ status: 400 });
      expect(late.called).toEqual(['openai', 'azure', 'openai']);
    });
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
      expect(performance.now() - startedMs).toBeLessThan(2_000);
      expect(plan.upstreamCalled).toBe(false);
    });

    it('in the middle of an answer ends it as gone, not as broken', async () => {
      const world = new World({ openai: [{ events: [start, text], hang: true }] });
      setTimeout(() => world.aborter.abort(), 20);
      const { failure, plan } = await world.open();
      expect(failure).toBeInstanceOf(CallerGoneError);
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
