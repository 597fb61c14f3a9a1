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

/** A route of which nothing is known is tried by one request in this time, where it is speed that counts. */
const MEASURE_EVERY_MS = 10_000;
/** An account of a pool that is told to wait, but not for how long, rests for so long. */
const REST_MS = 5_000;
/** What a vendor refuses a whole account for: its key, or that nothing is left to spend. */
const ACCOUNT_STATUSES: ReadonlySet<number | undefined> = new Set([401, 402, 429]);

export interface RouteCondition {
  readonly provider: string;
  /** Of several accounts with the provider the one that it is about. */
  readonly account?: string;
  readonly upstreamModel: string | undefined;
  readonly state: RouteState;
}

/**
 * What this process remembers of each route, and has heard of it: whether it fails, and how fast it answers.
 *
 * A run of failures cools a route down; being asked to wait does so at once, for as long as the
 * vendor asked but never longer than the setting. Failures to connect count against the provider
 * as a whole, all others only against the one model, so that an overloaded model does not take
 * its provider from everybody. What fails over a tenant's own account counts against that account
 * only, unless no connection came about to an address that all use; what its vendor refuses the whole
 * account for counts against all of its models.
 */
export class RouteHealth {
  readonly memories: RouteMemories;
  readonly speeds = new SpeedMemory();

  constructor(
    /** May change; what is cooling down goes on as it began. */
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
   * How fast the route has answered in the last 5 to 10 minutes, as of the last second. Undefined before the
   * first answer, and once nobody has used it for so long.
   */
  speedOf(key: HealthKey, nowMs = this.clock.monotonicMs()): RouteSpeed | undefined {
    return this.speeds.of(modelKey(key), nowMs);
  }

  /** Ms to the end of answers that are not streamed, the median; undefined where none came in that time. */
  wholeLatencyMs(key: HealthKey, nowMs = this.clock.monotonicMs()): number | undefined {
    return this.speeds.of(wholeKey(key), nowMs)?.latencyMs?.p50;
  }

  /** Output tokens a second, hidden reasoning included, as this process has seen it; undefined before the first answer. */
  tokensPerSecond(key: HealthKey): number | undefined {
    return this.speeds.tokensPerSecond(modelKey(key));
  }

  /** Whether it is time to try a route of which nothing is known; no one has of late. */
  isToBeMeasured(key: HealthKey, nowMs = this.clock.monotonicMs()): boolean {
    const tried = this.memories.get(modelKey(key))?.triedMs ?? -Infinity;
    return nowMs - tried >= MEASURE_EVERY_MS;
  }

  /** An answer of so many tokens has come to its end, so long after its call. */
  recordSpeed(
    key: HealthKey,
    tokens: number,
    durationMs: number,
    nowMs = this.clock.monotonicMs(),
  ): void {
    this.speeds.noteAnswer(modelKey(key), tokens, durationMs, nowMs);
  }

  /** A request is about to use the route. One that failed before is first tried by a single request. */
  recordAttempt(key: HealthKey, nowMs = this.clock.monotonicMs()): void {
    const name = modelKey(key);
    this.memories.of(name).triedMs = nowMs;
    this.memories.tryOut(name, nowMs);
    this.memories.tryOut(providerKey(key), nowMs);
    const own = key.byok && ownAccountKey(key);
    if (own !== undefined) this.memories.tryOut(own, nowMs);
  }

  /**
   * An answer has begun: the pause is over, though only its end shows that the route is well.
   *
   * @param isStreamed false: it has come as a whole, and its first content with its end
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

  /** An answer of the provider or account shows that it is well. */
  private endRun(name: string, nowMs: number): void {
    const memory = this.memories.get(name);
    if (!memory) return;
    this.memories.endPause(name, memory, nowMs);
    memory.failures = 0;
  }

  /**
   * A route that was not waited for any longer would have taken at least so long. What is less than it
   * takes anyway says nothing.
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

  /** Whether the next call is in a pause, or the one that shows whether a pause is over. */
  isOnTrial(key: HealthKey, nowMs = this.clock.monotonicMs()): boolean {
    if (this.isCooling(key, nowMs)) return true;
    const names = [modelKey(key), providerKey(key), ownAccountKey(key) ?? ''];
    const memories = names.map((name) => this.memories.get(name));
    return memories.some((memory) => memory !== undefined && isOpen(memory));
  }

  /** An answer has come to its end, which ends a run of failures. */
  recordCompletion(key: HealthKey): void {
    this.memories.complete(modelKey(key), providerKey(key), this.clock.monotonicMs());
  }

  /**
   * A call has failed. One that began before the latest pause, or before the answer that ended it,
   * tells nothing new: a vendor's bad minute would otherwise come back with its last time-out. Only
   * a request to wait is heeded whenever it comes.
   *
   * @param startedMs when the call began, or its answer if that broke off; on the clock of
   *   `nowMs`, `performance.now()` unless told
   */
  recordFailure(
    key: HealthKey,
    error: UpstreamError,
    startedMs: number,
    nowMs = this.clock.monotonicMs(),
  ): void {
    if (error.countsAgainst === undefined) {
      // A vendor that judges the request answers; only one that was not asked says nothing.
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
    if (startedMs >= memory.turnedMs) memory.failures++;
    else if (error.retryAfterMs === undefined) return;
    if (error.retryAfterMs !== undefined) {
      this.memories.beginPause(name, nowMs, Math.min(error.retryAfterMs, this.cooldownMs));
    } else if (memory.failures >= FAILURES_TO_OPEN) {
      // The next failure after the pause opens it again: one call is the probe.
      memory.failures = FAILURES_TO_OPEN - 1;
      this.memories.beginPause(name, nowMs, this.cooldownMs);
    }
  }

  /** Leaves an account of a pool alone with one model for so long; a longer rest stays. */
  rest(key: HealthKey, restMs: number, nowMs = this.clock.monotonicMs()): void {
    const name = modelKey(key);
    const pauseMs = Math.min(restMs, MAX_REST_MS);
    if (nowMs + pauseMs > this.memories.of(name).coolUntilMs) {
      this.memories.beginPause(name, nowMs, pauseMs);
    }
  }

  /** For how long a vendor has asked not to be called over a route; 0: no longer, or it fails instead. */
  restMs(key: HealthKey, nowMs = this.clock.monotonicMs()): number {
    const memory = this.memories.get(modelKey(key));
    if (!memory || stateOf(memory, nowMs) !== 'cooling') return 0;
    return memory.coolUntilMs - nowMs;
  }

  /**
   * Where other accounts take over at once, there is no need to see a failure five times that is the account's
   * own: at its limit it rests, and one that its vendor refuses is left alone as a failing route is.
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

  /** How each shared route does that has been called. Without a model it is the provider as a whole. */
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

  /**
   * Shared routes whose run of failures nobody has ended yet, by an answer or by no longer asking; between two
   * pauses too.
   */
  failingRoutes(nowMs = this.clock.monotonicMs()): Omit<RouteCondition, 'state'>[] {
    return this.sharedRoutes(Math.max(0, nowMs - FORGIVEN_AFTER_MS))
      .filter(({ state }) => state === 'open')
      .map(({ state: _, ...route }) => route);
  }

  /** Routes and whole providers that are cooling down, those over tenants' own accounts apart. */
  countCooling(nowMs = this.clock.monotonicMs()): { shared: number; byok: number } {
    const counts = { shared: 0, byok: 0 };
    for (const [name, { coolUntilMs }] of this.memories) {
      if (coolUntilMs > nowMs) counts[readName(name).isOwn ? 'byok' : 'shared']++;
    }
    return counts;
  }
}

/** Whether the vendor refused the account rather than what it was asked for. */
function isOfAccount({ failure, status }: UpstreamError): boolean {
  return failure === 'operator' && ACCOUNT_STATUSES.has(status);
}

/** Of an account as a whole: the operator's, of several, or a tenant's own. */
function accountNameOf(key: HealthKey): string {
  return ownAccountKey(key) ?? providerKey(key);
}
