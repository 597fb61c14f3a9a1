import { SYSTEM_CLOCK, type Clock } from '../../canonical/clock.js';
import type { UpstreamError } from '../../vendors/upstream-error.js';
import { forgetOldest, SpeedMemory, type RouteSpeed } from './health/speed-memory.js';

/** Failures in a row after which a route is left alone for a while. */
const FAILURES_TO_OPEN = 5;
/** A route that has cooled down is tried by one request in this time until it answers. */
const PROBE_EVERY_MS = 1_000;
/** A route of which nothing is known is tried by one request in this time, where it is speed that counts. */
const MEASURE_EVERY_MS = 10_000;
/** An account of a pool that is told to wait, but not for how long, rests for so long … */
const REST_MS = 5_000;
/** … and for no longer than this, whatever a vendor says: its word is looked at again then. */
const MAX_REST_MS = 3_600_000;
/** What a vendor refuses a whole account for: its key, or that nothing is left to spend. */
const ACCOUNT_STATUSES: ReadonlySet<number | undefined> = new Set([401, 402, 429]);
/** A route that was not tried for so long after its pause is no longer called failing. */
const FORGIVEN_AFTER_MS = 300_000;

/** Ends a tenant's account in a key; no provider's id has one. */
const OWNER_END = ':';
/** Ends the name for whole answers; no vendor's name of a model has one. */
const WHOLE_END = '\n';
/** Begins one of the operator's accounts behind its provider's id, where there are several. */
const ACCOUNT_BEGIN = '@';

interface Memory {
  /** When the latest call began. */
  triedMs: number;
  failures: number;
  coolUntilMs: number;
  /** When the latest pause began or an answer ended one: earlier calls say nothing new by failing. */
  turnedMs: number;
}

/** From well to bad. `cooling`: the vendor asked to wait; `open`: a run of failures opened the breaker. */
export const ROUTE_STATES = ['healthy', 'cooling', 'open'] as const;
export type RouteState = (typeof ROUTE_STATES)[number];

export interface RouteCondition {
  readonly provider: string;
  /** Of several accounts with the provider the one that it is about. */
  readonly account?: string;
  readonly upstreamModel: string | undefined;
  readonly state: RouteState;
}

/** Which route a memory is about: a provider's model, or with no model the whole provider. */
export interface HealthKey {
  provider: string;
  upstreamModel: string;
  /** One of several accounts of the operator's, each of which fails for itself. */
  account?: string | undefined;
  /** Of one account of a pool, which rests by itself while the others serve. */
  pooled?: object | undefined;
  /** Of a tenant's own account, whose failures are no one else's. */
  byok?: { credential: { id: string }; hasTenantAddress: boolean };
}

/**
 * What this process remembers of each route: whether it fails, and how fast it answers.
 *
 * A run of failures cools a route down; being asked to wait does so at once, for as long as the
 * vendor asked but never longer than the setting. Failures to connect count against the provider
 * as a whole, all others only against the one model, so that an overloaded model does not take
 * its provider from everybody. What fails over a tenant's own account counts against that account
 * only, unless no connection came about to an address that all use.
 */
export class RouteHealth {
  private readonly memories = new Map<string, Memory>();
  private readonly speeds = new SpeedMemory();

  constructor(
    /** May change; what is cooling down goes on as it began. */
    public cooldownMs: number,
    private readonly clock: Pick<Clock, 'monotonicMs'> = SYSTEM_CLOCK,
  ) {}

  isCooling(key: HealthKey, nowMs = this.clock.monotonicMs()): boolean {
    return this.coolUntil(modelKey(key)) > nowMs || this.coolUntil(providerKey(key)) > nowMs;
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
    const model = this.memory(modelKey(key));
    model.triedMs = nowMs;
    for (const memory of [model, this.memories.get(providerKey(key))]) {
      if (memory && isProbed(memory)) {
        memory.coolUntilMs = Math.max(memory.coolUntilMs, nowMs + PROBE_EVERY_MS);
      }
    }
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
    endPause(this.memory(name), nowMs);
    const provider = this.memories.get(providerKey(key));
    if (!provider) return;
    endPause(provider, nowMs);
    provider.failures = 0;
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
    const memories = [this.memories.get(modelKey(key)), this.memories.get(providerKey(key))];
    return memories.some((memory) => memory !== undefined && isProbed(memory));
  }

  /** An answer has come to its end, which ends a run of failures. */
  recordCompletion(key: HealthKey): void {
    const memory = this.memories.get(modelKey(key));
    if (memory) memory.failures = 0;
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
      const known = this.memories.get(modelKey(key));
      if (known && error.failure !== 'unsupported') endPause(known, nowMs);
      return;
    }
    if (key.pooled && this.isRested(key, error, nowMs)) return;
    const memory = this.memory(
      error.countsAgainst === 'provider' ? providerKey(key) : modelKey(key),
    );
    if (startedMs >= memory.turnedMs) memory.failures++;
    else if (error.retryAfterMs === undefined) return;
    if (error.retryAfterMs !== undefined) {
      beginPause(memory, nowMs, Math.min(error.retryAfterMs, this.cooldownMs));
    } else if (memory.failures >= FAILURES_TO_OPEN) {
      beginPause(memory, nowMs, this.cooldownMs);
      // The next failure after the pause opens it again: one call is the probe.
      memory.failures = FAILURES_TO_OPEN - 1;
    }
  }

  /** Leaves an account of a pool alone with one model for so long; a longer rest stays. */
  rest(key: HealthKey, restMs: number, nowMs = this.clock.monotonicMs()): void {
    const memory = this.memory(modelKey(key));
    const untilMs = nowMs + Math.min(restMs, MAX_REST_MS);
    if (untilMs > memory.coolUntilMs) beginPause(memory, nowMs, untilMs - nowMs);
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
    const isWhole = key.account !== undefined && ACCOUNT_STATUSES.has(error.status);
    const memory = this.memory(isWhole ? providerKey(key) : modelKey(key));
    beginPause(memory, nowMs, this.cooldownMs);
    memory.failures = FAILURES_TO_OPEN - 1;
    return true;
  }

  /** How each shared route does that has been called. Without a model it is the provider as a whole. */
  sharedRoutes(nowMs = this.clock.monotonicMs()): RouteCondition[] {
    const routes: RouteCondition[] = [];
    for (const [key, memory] of this.memories) {
      const [whole = ''] = key.split('/', 1);
      if (whole.includes(OWNER_END)) continue;
      const upstreamModel = key === whole ? undefined : key.slice(whole.length + 1);
      const [provider = '', account] = whole.split(ACCOUNT_BEGIN);
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
    for (const [key, { coolUntilMs }] of this.memories) {
      // An upstream model may hold any character, but only behind the first slash.
      const isByok = key.split('/', 1)[0]!.includes(OWNER_END);
      if (coolUntilMs > nowMs) counts[isByok ? 'byok' : 'shared']++;
    }
    return counts;
  }

  private coolUntil(key: string): number {
    return this.memories.get(key)?.coolUntilMs ?? 0;
  }

  private memory(key: string): Memory {
    let memory = this.memories.get(key);
    if (!memory) {
      memory = {
        triedMs: -Infinity,
        failures: 0,
        coolUntilMs: 0,
        turnedMs: 0,
      };
      forgetOldest(this.memories);
      this.memories.set(key, memory);
    }
    return memory;
  }
}

/** Whether one call at a time shows how it does, after a pause that failures brought. */
function isProbed({ failures, coolUntilMs }: Memory): boolean {
  return failures >= FAILURES_TO_OPEN - 1 && coolUntilMs > 0;
}

function stateOf({ coolUntilMs, failures }: Memory, nowMs: number): RouteState {
  if (coolUntilMs <= nowMs) return 'healthy';
  return failures >= FAILURES_TO_OPEN - 1 ? 'open' : 'cooling';
}

function beginPause(memory: Memory, nowMs: number, pauseMs: number): void {
  memory.coolUntilMs = nowMs + pauseMs;
  if (pauseMs > 0) memory.turnedMs = nowMs;
}

/** Ends a pause that failures brought. One that the vendor asked for stays. */
function endPause(memory: Memory, nowMs: number): void {
  if (memory.failures < FAILURES_TO_OPEN - 1) return;
  if (memory.coolUntilMs > 0) memory.turnedMs = nowMs;
  memory.coolUntilMs = 0;
}

function modelKey({ provider, account, upstreamModel, byok }: HealthKey): string {
  if (account !== undefined) return `${provider}${ACCOUNT_BEGIN}${account}/${upstreamModel}`;
  const key = `${provider}/${upstreamModel}`;
  return byok ? `${byok.credential.id}${OWNER_END}${key}` : key;
}

/** For the latency of answers that are not streamed, which says nothing of the others. */
function wholeKey(key: HealthKey): string {
  return `${modelKey(key)}${WHOLE_END}`;
}

function providerKey({ provider, account, byok }: HealthKey): string {
  if (account !== undefined) return `${provider}${ACCOUNT_BEGIN}${account}`;
  return byok?.hasTenantAddress ? `${byok.credential.id}${OWNER_END}${provider}` : provider;
}
