import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../../test/support/catalogue-models.js';
import { embeddingRequest } from '../../../test/support/embedding-requests.js';
import type { Caller } from '../access/caller.js';
import { waitUnless } from '../../canonical/cancel-signal.js';
import type { EmbeddingRequest, EmbeddingVectors } from '../../canonical/work-request.js';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import type { CatalogueService } from '../catalogue/catalogue.service.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { ByokUpstreams } from '../credentials/byok-upstreams.service.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { UpstreamError, type UpstreamFailure } from '../../vendors/upstream-error.js';
import type { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import type { WorkCall } from '../../vendors/upstream.js';
import type { Plan, RouteCover } from './plan.js';
import { RouteFallback } from './route-fallback.js';
import { createRouting } from '../../../test/support/create-routing.js';
import type { RoutingService } from './routing.service.js';

const vectors = chatModel('a/vectors', [modelRoute('a'), modelRoute('b'), modelRoute('c')], {
  kind: 'embedding',
});
const chat = chatModel('a/chat', [modelRoute('a')]);
const COVERS_ALL: RouteCover = { cover: () => Promise.resolve(true) };

/** Providers that follow their scripts; one without a script does not support the work. */
class World {
  readonly called: WorkCall<EmbeddingRequest>[] = [];
  readonly aborter = new AbortController();
  readonly service: RoutingService;

  constructor(private readonly scripts: Record<string, (UpstreamFailure | 'good' | 'silent')[]>) {
    const models = [vectors, chat];
    const limits = { idleTimeoutMs: 1_000, requestTimeoutMs: 1_000, cooldownMs: 1_000 };
    this.service = createRouting({
      config: { limits, hedgePercent: 100 } as AppConfig,
      catalogue: {
        find: (id: string) => models.find((model) => model.id === id),
        nearest: (): string[] => [],
      } as unknown as CatalogueService,
      upstreams: {
        has: () => true,
        providers: [],
        get: (provider: string) => ({
          ...(this.scripts[provider] && {
            embed: (call: WorkCall<EmbeddingRequest>) => ({
              droppedParams: [`dropped by ${provider}`],
              events: this.work(provider, call),
            }),
          }),
        }),
      } as unknown as UpstreamRegistry,
      metrics: {
        observeAttempt: () => undefined,
        observeHedge: () => undefined,
        track: () => undefined,
        trackEach: () => undefined,
      } as unknown as GatewayMetrics,
      byokUpstreams: { of: () => [] } as unknown as ByokUpstreams,
    }).service;
  }

  plan(model = 'a/vectors', hedgeMs?: number): Promise<Plan<EmbeddingRequest>> {
    return this.service.plan({} as Caller, embeddingRequest({ model }), {
      requestId: 'id',
      endpoint: 'embeddings',
      receivedAt: new Date(),
      callerGone: this.aborter.signal,
      hedgeMs,
    });
  }

  async open(cover = COVERS_ALL, hedgeMs?: number) {
    const plan = await this.plan(undefined, hedgeMs);
    const events: WorkEvent<EmbeddingVectors>[] = [];
    const opened = this.service.openWork(plan, cover, (upstream, call) => upstream.embed?.(call));
    let failure: unknown;
    try {
      for await (const event of opened) events.push(event);
    } catch (error) {
      failure = error;
    }
    return { events, failure, outcomes: plan.attempts.map(({ outcome }) => outcome) };
  }

  private async *work(
    provider: string,
    call: WorkCall<EmbeddingRequest>,
  ): AsyncGenerator<WorkEvent<EmbeddingVectors>> {
    this.called.push(call);
    const next = this.scripts[provider]?.shift() ?? 'good';
    if (next === 'silent') await waitUnless(call.signal, 1_000_000);
    else if (next !== 'good') throw new UpstreamError({ failure: next, message: next });
    yield { type: 'output', output: [[1, 0]] };
  }
}

describe(RouteFallback.name, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));

  it('yields the route before the work’s events', async () => {
    const world = new World({ a: [] });
    const { events, failure } = await world.open();
    expect(failure).toBeUndefined();
    expect(events).toEqual([
      {
        type: 'route',
        route: expect.objectContaining({ provider: 'a', model: 'a/vectors' }) as unknown,
        droppedParams: ['dropped by a'],
      },
      { type: 'output', output: [[1, 0]] },
    ]);
    expect(world.called[0]).toMatchObject({ alias: 'a/vectors', upstreamModel: 'a-model' });
  });

  it('skips vendors that do not support the work, and retries failed ones as with text', async () => {
    const world = new World({ b: ['server', 'server'], c: [] });
    const { events, outcomes } = await world.open();
    expect(outcomes).toEqual(['unsupported', 'server', 'server', 'answered']);
    expect(events[0]).toMatchObject({ route: { provider: 'c' } });
  });

  it('reports that no vendor supports the work', async () => {
    const { failure } = await new World({}).open();
    expect(failure).toMatchObject({ status: 400, param: 'model' });
    expect((failure as Error).message).toContain('cannot embed text');
  });

  it('skips a more expensive route that the credits do not cover', async () => {
    const world = new World({ a: ['timeout'], b: [], c: [] });
    const cover = {
      cover: ({ provider }: { provider: string }) => Promise.resolve(provider !== 'b'),
    };
    const { outcomes, events } = await world.open(cover);
    expect(outcomes).toEqual(['timeout', 'uncovered', 'answered']);
    expect(events[0]).toMatchObject({ route: { provider: 'c' } });
  });

  it('calls a second route when the first is silent, and closes the first', async () => {
    const world = new World({ a: ['silent'], b: [], c: [] });
    const { events, outcomes } = await world.open(COVERS_ALL, 5);
    expect(events[0]).toMatchObject({ route: { provider: 'b' } });
    expect(outcomes).toEqual(['outpaced', 'answered']);
    expect(world.called[0]!.signal.aborted).toBe(true);
  });

  it('stops at a bad request', async () => {
    const { failure, outcomes } = await new World({ a: ['caller'], b: [] }).open();
    expect(outcomes).toEqual(['caller']);
    expect(failure).toMatchObject({ status: 400 });
  });

  it('plans no model of another kind, and reserves the request’s ceiling', async () => {
    const world = new World({});
    await expect(world.plan('a/chat')).rejects.toMatchObject({ status: 400, param: 'model' });
    await expect(world.plan('a/nothing')).rejects.toMatchObject({ status: 404, param: 'model' });
    const plan = await world.plan();
    expect(plan.routes[0]).toMatchObject({ ceiling: { inputTokens: 1 }, output: undefined });
    expect(plan.estimate).toMatchObject({ inputTokens: 1, outputTokens: 0 });
  });
});
