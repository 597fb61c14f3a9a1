import { expect } from '@jest/globals';
import { chatModel, modelRoute } from './catalogue-models.js';
import { chatRequest } from './chat-requests.js';
import type { Caller } from '../../src/core/access/caller.js';
import { Canceller, waitUnless } from '../../src/canonical/cancel-signal.js';
import type { CanonicalEvent } from '../../src/canonical/canonical-event.js';
import { NO_USAGE } from '../../src/canonical/usage.js';
import type { CatalogueService } from '../../src/core/catalogue/catalogue.service.js';
import type { Model } from '../../src/core/catalogue/catalogue.types.js';
import type { AppConfig, ProviderConfig } from '../../src/platform/config/app-config.js';
import type {
  ByokAccess,
  ByokUpstreams,
} from '../../src/core/credentials/byok-upstreams.service.js';
import type { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';
import {
  UpstreamError,
  type UpstreamErrorFields,
  type UpstreamFailure,
} from '../../src/vendors/upstream-error.js';
import type { UpstreamRegistry } from '../../src/vendors/upstream.registry.js';
import type { UpstreamCall } from '../../src/vendors/upstream.js';
import type { Plan, RouteCover } from '../../src/core/routing/plan.js';
import { createRouting } from './create-routing.js';
import type { AccountPools } from '../../src/core/routing/pool/account-pools.js';
import type { ConversationPlaces } from '../../src/core/routing/stickiness/conversation-places.js';
import type { RoutingService } from '../../src/core/routing/routing.service.js';

/** One call's answer: its events and its failure, if any; `hang` waits until the caller disconnects. */
export interface Script {
  events?: CanonicalEvent[];
  error?: UpstreamError;
  hang?: boolean;
  /** Delay before the first event. */
  silentMs?: number;
  /** Continues after it was closed, as no vendor should. */
  isDeaf?: boolean;
  /** Delay before the end or the failure. */
  delayMs?: number;
  /** Headers of the response. */
  headers?: Record<string, string>;
}

export const start: CanonicalEvent = { type: 'start', id: 'x' };
export const text: CanonicalEvent = { type: 'text', choice: 0, text: 'Hi' };
export const finish: CanonicalEvent = { type: 'finish', choice: 0, reason: 'stop' };
export const usage: CanonicalEvent = { type: 'usage', usage: { ...NO_USAGE, inputTokens: 3 } };
export const GOOD: Script = { events: [start, text, finish, usage] };

export const error = (failure: UpstreamFailure, fields: Partial<UpstreamErrorFields> = {}) =>
  new UpstreamError({ failure, message: `vendor: ${failure}`, ...fields });
export const bad = (
  failure: UpstreamFailure,
  fields: Partial<UpstreamErrorFields> = {},
): Script => ({
  error: error(failure, fields),
});
export const limited = (retryAfterMs: number): Script => bad('rate_limited', { retryAfterMs });

export const gpt = chatModel('openai/gpt', [modelRoute('openai'), modelRoute('azure')]);
export const claude = chatModel('anthropic/claude', [modelRoute('anthropic')]);
export const speech = chatModel('openai/tts', [modelRoute('openai')], { kind: 'speech' });

export class World {
  /** Providers in the order of their calls. */
  readonly called: string[] = [];
  readonly calls: UpstreamCall[] = [];
  /** Outcomes of recoveries. */
  readonly recoveries: string[] = [];
  /** Providers whose calls were closed, in order. */
  readonly closed: string[] = [];
  /** Outcomes of hedges. */
  readonly hedges: string[] = [];
  /** Settings that tests may change. */
  readonly config = {
    limits: {
      firstByteTimeoutMs: undefined,
      idleTimeoutMs: 60_000,
      requestTimeoutMs: 600_000,
      cooldownMs: 30_000,
    },
    hedgePercent: 100,
    byokFeePercent: 5,
    declared: { providers: [] },
  };
  /** Iterations that have neither ended, failed nor returned. */
  openIterations = 0;
  readonly service: RoutingService;
  readonly pools: AccountPools;
  readonly conversations: ConversationPlaces;
  aborter = new AbortController();
  /** True when vendors are read on after their caller disconnected. */
  isPatient = false;
  /** Providers that continue an assistant turn. */
  prefilled: readonly string[] = [];
  /** The caller's BYOK accounts; each has a script under its credential's id. */
  byok: readonly ByokAccess[] = [];

  constructor(
    private scripts: Record<string, (Script | ((call: UpstreamCall) => Script))[]>,
    models: Model[] = [gpt, claude, speech],
    private readonly countTokens?: (call: UpstreamCall) => Promise<number>,
    /** Providers with accounts; others need no entry. Each account has a separate script, such as `openai@eu`. */
    public providers: readonly ProviderConfig[] = [],
  ) {
    const providersNow = () => this.providers;
    const upstreamOf = (provider: string, source = provider) => ({
      droppedParams: (_request: unknown, { upstreamModel }: { upstreamModel: string }) => [
        `dropped by ${provider} for ${upstreamModel}`,
      ],
      generate: (call: UpstreamCall) => this.iterate(source, call),
      continuesPrefill: () => this.prefilled.includes(provider),
      ...(this.countTokens && { countTokens: this.countTokens }),
    });
    const routing = createRouting({
      config: this.config as unknown as AppConfig,
      catalogue: {
        find: (id: string) => models.find((model) => model.id === id),
        nearest: () => [],
      } as unknown as CatalogueService,
      upstreams: {
        has: () => true,
        get providers() {
          return providersNow();
        },
        get: (provider: string, account?: string) =>
          upstreamOf(provider, account === undefined ? provider : `${provider}@${account}`),
      } as unknown as UpstreamRegistry,
      metrics: {
        observeAttempt: () => undefined,
        observeRecovery: (outcome: string) => void this.recoveries.push(outcome),
        observeHedge: (outcome: string) => this.hedges.push(outcome),
        track: () => undefined,
        trackEach: () => undefined,
      } as unknown as GatewayMetrics,
      byokUpstreams: {
        of: () => this.byok,
        use: ({ credential: { id, provider } }: ByokAccess) => upstreamOf(provider, id),
      } as unknown as ByokUpstreams,
    });
    this.service = routing.service;
    this.pools = routing.pools;
    this.conversations = routing.conversations;
  }

  /** Replaces the vendors' scripts. */
  rewrite(scripts: Record<string, Script[]>): void {
    this.scripts = scripts;
  }

  /** Plans a request whose vendor calls end as soon as its caller disconnects, without a grace period. */
  async plan(fields: Record<string, unknown> = {}, receivedAt = new Date()): Promise<Plan> {
    const request = chatRequest({ model: 'openai/gpt', ...fields });
    const context = {
      requestId: 'id',
      endpoint: 'chat',
      receivedAt,
      callerGone: this.aborter.signal,
      recovery: request.routing.recovery,
      hedgeMs: request.routing.hedgeMs,
    };
    const plan = await this.service.plan({ tenantId: 'tenant' } as Caller, request, context);
    context.callerGone.addEventListener('abort', () => {
      if (!this.isPatient) plan.closeVendor();
    });
    return plan;
  }

  async open(
    fields: Record<string, unknown> = {},
    cover: RouteCover = COVERS_ALL,
    receivedAt = new Date(),
  ) {
    const plan = await this.plan(fields, receivedAt);
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

  /** Not a generator, to reveal whether every started iteration is ended. */
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
      call.signal.noteSent?.();
      call.signal.addEventListener('abort', () => this.closed.push(provider));
      this.openIterations++;
      const scripted = this.scripts[provider]?.shift() ?? GOOD;
      const next = typeof scripted === 'function' ? scripted(call) : scripted;
      if (next.headers) call.signal.noteHead?.(next.headers);
      events = [...(next.events ?? [])];
      return next;
    };
    const next = async (): Promise<IteratorResult<CanonicalEvent>> => {
      const isFirst = script === undefined;
      script ??= begin();
      if (isFirst && script.silentMs !== undefined) {
        const closing = script.isDeaf ? new Canceller() : call.signal;
        if (!(await waitUnless(closing, script.silentMs))) {
          end();
          throw new Error('The call was aborted.');
        }
      }
      const event = events.shift();
      if (event) return { done: false, value: event };
      if (isOver) return end();
      if (script.hang) {
        await new Promise((resolve) =>
          call.signal.addEventListener('abort', () => resolve(undefined)),
        );
      }
      if (script.delayMs) await new Promise((resolve) => setTimeout(resolve, script?.delayMs));
      const result = end();
      if (script.hang) throw new Error('The call was aborted.');
      if (script.error) throw script.error;
      return result;
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: () => Promise.resolve(end()) }) };
  }
}

export const COVERS_ALL: RouteCover = { cover: () => Promise.resolve(true) };
export const CHAIN = { models: ['anthropic/claude'] };
