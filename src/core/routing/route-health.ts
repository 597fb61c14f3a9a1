import { SYSTEM_CLOCK, type Clock } from '../../canonical/clock.js';
import type { UpstreamError } from '../../vendors/upstream-error.js';
import { FORGIVEN_AFTER_MS, MAX_REST_MS, RouteMemories } from './health/route-memories.js';
import { FAILURES_TO_OPEN, isOpen, stateOf, type RouteState } from './health/route-memory.js';
import {
  modelKey,
  ownAccountKey,
  providerKey,
  readName,
  wholeKey,
  type HealthKey,
} from './health/route-names.js';
import { SpeedMemory, type RouteSpeed } from './health/speed-memory.js';

export { ROUTE_STATES, type RouteState } from './health/route-memory.js';
export type { HealthKey } from './health/route-names.js';

/** Interval at which one request tries an unmeasured route when sorting by speed. */
const MEASURE_EVERY_MS = 10_000;
/** Cooldown of a pooled account that is rate limited without a `Retry-After`. */
const REST_MS = 5_000;
/** Statuses by which a vendor rejects the whole account: bad key, no credit, rate limit. */
const ACCOUNT_STATUSES: ReadonlySet<number | undefined> = new Set([401, 402, 429]);

export interface RouteCondition {
  readonly provider: string;
  /** One of several accounts with the provider. */
  readonly account?: string;
  readonly upstreamModel: string | undefined;
  readonly state: RouteState;
}

/**
 * Remembers each route's failures and speed, from this process and from reports.
 *
 * A run of failures cools a route down. A rate limit does so at once, for as long as the vendor
 * asked but never longer than the setting. Connection failures count against the whole provider,
 * others only against the model, so that an overloaded model does not disable its provider.
 * Failures over a BYOK account count against that account only, except connection failures to a
 * shared address. Rejections of the whole account count against all its models.
 */
export class RouteHealth {
  readonly memories: RouteMemories;
  readonly speeds = new SpeedMemory();

  constructor(
    /** May change; running cooldowns keep their length. */
    public cooldownMs: number,
    private readonly clock: Pick<Clock, 'monotonicMs'> = SYSTEM_CLOCK,
  ) {
    this.memories = new RouteMemories(() => this.cooldownMs, clock);
  }

  isCooling(key: HealthKey, nowMs = this.clock.monotonicMs()): boolean {
    const { memories } = this;
    if (memories.rests(modelKey(key), nowMs) || memories.rests(providerKey(key), nowMs))
      return true;
    const own = key.byok && ownAccountKey(key);
    return own !== undefined && memories.rests(own, nowMs);
  }

  /**
   * Returns the route's speed over the last 5 to 10 minutes, at most a second old. Undefined before
   * the first answer and when unused for that long.
   */
  speedOf(key: HealthKey, nowMs = this.clock.monotonicMs()): RouteSpeed | undefined {
    return this.speeds.of(modelKey(key), nowMs);
  }

  /** Returns the median ms to the end of unstreamed answers; undefined without any in that time. */
  wholeLatencyMs(key: HealthKey, nowMs = this.clock.monotonicMs()): number | undefined {
    return this.speeds.of(wholeKey(key), nowMs)?.latencyMs?.p50;
  }

  /**
   * Returns output tokens per second, hidden reasoning included, measured in this process;
   * undefined before the first answer.
   */
  tokensPerSecond(key: HealthKey): number | undefined {
    return this.speeds.tokensPerSecond(modelKey(key));
  }

  /** Returns whether a route without measurements is due for a try. */
  isToBeMeasured(key: HealthKey, nowMs = this.clock.monotonicMs()): boolean {
    const tried = this.memories.get(modelKey(key))?.triedMs ?? -Infinity;
    return nowMs - tried >= MEASURE_EVERY_MS;
  }

  /** Records the speed of a completed answer. */
  recordSpeed(
    key: HealthKey,
    tokens: number,
    durationMs: number,
    nowMs = this.clock.monotonicMs(),
  ): void {
    this.speeds.noteAnswer(modelKey(key), tokens, durationMs, nowMs);
  }

  /**
   * Records that a request is about to use the route. A route that failed is probed by a single
   * request.
   */
  recordAttempt(key: HealthKey, nowMs = this.clock.monotonicMs()): void {
    const name = modelKey(key);
    this.memories.of(name).triedMs = nowMs;
    this.memories.tryOut(name, nowMs);
    this.memories.tryOut(providerKey(key), nowMs);
    const own = key.byok && ownAccountKey(key);
    if (own !== undefined) this.memories.tryOut(own, nowMs);
  }

  /**
   * Records the start of an answer, which ends the pause; only a completed answer shows that the
   * route is healthy.
   *
   * @param isStreamed false for a whole answer, whose first content is its end
   */
  recordAnswer(
    key: HealthKey,
    latencyMs: number,
    nowMs = this.clock.monotonicMs(),
    isStreamed = true,
  ): void {
    const name = modelKey(key);
    this.speeds.noteLatency(isStreamed ? name : wholeKey(key), latencyMs, nowMs);
    this.memories.endPause(name, this.memories.of(name), nowMs);
    this.endRun(providerKey(key), nowMs);
    const own = key.byok && ownAccountKey(key);
    if (own !== undefined) this.endRun(own, nowMs);
  }

  /** Ends the failures of a provider or account that answered. */
  private endRun(name: string, nowMs: number): void {
    const memory = this.memories.get(name);
    if (!memory) return;
    this.memories.endPause(name, memory, nowMs);
    memory.failures = 0;
  }

  /**
   * Records a superseded call as a lower bound of the latency. Ignores less than the usual latency.
   */
  recordSilence(
    key: HealthKey,
    silentMs: number,
    nowMs = this.clock.monotonicMs(),
    isStreamed = true,
  ): void {
    const name = isStreamed ? modelKey(key) : wholeKey(key);
    if (silentMs <= (this.speeds.of(name, nowMs)?.latencyMs?.p50 ?? 0)) return;
    this.speeds.noteLatency(name, silentMs, nowMs);
  }

  /** Returns whether the next call falls into a pause or probes the route. */
  isOnTrial(key: HealthKey, nowMs = this.clock.monotonicMs()): boolean {
    if (this.isCooling(key, nowMs)) return true;
    const names = [modelKey(key), providerKey(key), ownAccountKey(key) ?? ''];
    const memories = names.map((name) => this.memories.get(name));
    return memories.some((memory) => memory !== undefined && isOpen(memory));
  }

  /** Records a completed answer, which ends a run of failures. */
  recordCompletion(key: HealthKey): void {
    this.memories.complete(modelKey(key), providerKey(key), this.clock.monotonicMs());
  }

  /**
   * Records a failed call. Ignores calls that began before the latest pause, or before the answer
   * that ended it: otherwise a vendor's bad minute would return with its last timeout. A requested
   * cooldown always applies.
   *
   * @param startedMs start of the call, or of an interrupted answer, on the clock of `nowMs`;
   * `performance.now()` by default
   */
  recordFailure(
    key: HealthKey,
    error: UpstreamError,
    startedMs: number,
    nowMs = this.clock.monotonicMs(),
  ): void {
    if (error.countsAgainst === undefined) {
      // A vendor that rejects the request is healthy; only a request that was not sent says
      // nothing.
      const name = modelKey(key);
      const known = this.memories.get(name);
      if (known && error.failure !== 'unsupported') this.memories.endPause(name, known, nowMs);
      return;
    }
    if (key.pooled && this.isRested(key, error, nowMs)) return;
    const isWhole = key.byok !== undefined && isOfAccount(error);
    const name =
      error.countsAgainst === 'provider'
        ? providerKey(key)
        : isWhole
          ? accountNameOf(key)
          : modelKey(key);
    const memory = this.memories.of(name);
    if (startedMs >= memory.changedMs) memory.failures++;
    else if (error.retryAfterMs === undefined) return;
    if (error.retryAfterMs !== undefined) {
      this.memories.beginPause(name, nowMs, Math.min(error.retryAfterMs, this.cooldownMs));
    } else if (memory.failures >= FAILURES_TO_OPEN) {
      // A single failure after the pause reopens it, since that call is the probe.
      memory.failures = FAILURES_TO_OPEN - 1;
      this.memories.beginPause(name, nowMs, this.cooldownMs);
    }
  }

  /** Pauses a pooled account for one model; a longer pause stays. */
  rest(key: HealthKey, restMs: number, nowMs = this.clock.monotonicMs()): void {
    const name = modelKey(key);
    const pauseMs = Math.min(restMs, MAX_REST_MS);
    if (nowMs + pauseMs > this.memories.of(name).coolUntilMs) {
      this.memories.beginPause(name, nowMs, pauseMs);
    }
  }

  /**
   * Returns the remaining requested cooldown of a route, in ms; 0 when it is over or the route
   * fails instead.
   */
  restMs(key: HealthKey, nowMs = this.clock.monotonicMs()): number {
    const memory = this.memories.get(modelKey(key));
    if (!memory || stateOf(memory, nowMs) !== 'cooling') return 0;
    return memory.coolUntilMs - nowMs;
  }

  /**
   * Pauses a pooled account at its first own failure, because other accounts take over at once: a
   * rate-limited account cools down, a rejected one pauses like a failing route.
   */
  private isRested(key: HealthKey, error: UpstreamError, nowMs: number): boolean {
    if (error.failure === 'rate_limited') {
      this.rest(key, error.retryAfterMs ?? REST_MS, nowMs);
      return true;
    }
    if (error.failure !== 'operator') return false;
    const name = isOfAccount(error) ? accountNameOf(key) : modelKey(key);
    this.memories.of(name).failures = FAILURES_TO_OPEN - 1;
    this.memories.beginPause(name, nowMs, this.cooldownMs);
    return true;
  }

  /**
   * Returns the state of each shared route that was called. Without a model it is the whole
   * provider.
   */
  sharedRoutes(nowMs = this.clock.monotonicMs()): RouteCondition[] {
    const routes: RouteCondition[] = [];
    for (const [name, memory] of this.memories) {
      const { isOwn, provider, account, upstreamModel } = readName(name);
      if (isOwn) continue;
      const state = stateOf(memory, nowMs);
      routes.push({ provider, upstreamModel, state, ...(account !== undefined && { account }) });
    }
    return routes;
  }

  /** Returns shared routes with an ongoing run of failures, also between pauses. */
  failingRoutes(nowMs = this.clock.monotonicMs()): Omit<RouteCondition, 'state'>[] {
    return this.sharedRoutes(Math.max(0, nowMs - FORGIVEN_AFTER_MS))
      .filter(({ state }) => state === 'open')
      .map(({ state: _, ...route }) => route);
  }

  /** Counts routes and providers in cooldown, BYOK accounts separately. */
  countCooling(nowMs = this.clock.monotonicMs()): { shared: number; byok: number } {
    const counts = { shared: 0, byok: 0 };
    for (const [name, { coolUntilMs }] of this.memories) {
      if (coolUntilMs > nowMs) counts[readName(name).isOwn ? 'byok' : 'shared']++;
    }
    return counts;
  }
}

/** Returns whether the vendor rejected the account rather than the request. */
function isOfAccount({ failure, status }: UpstreamError): boolean {
  return failure === 'operator' && ACCOUNT_STATUSES.has(status);
}

/** Names an account as a whole: an operator's, of several, or a tenant's own. */
function accountNameOf(key: HealthKey): string {
  return ownAccountKey(key) ?? providerKey(key);
}
