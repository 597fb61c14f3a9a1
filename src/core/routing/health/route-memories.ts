import type { Clock } from '../../../canonical/clock.js';
import { boundedCache } from '../../../platform/memory/bounded-cache.js';
import type { RouteNews } from './health-message.js';
import { FAILURES_TO_OPEN, isOpen, newsOf, type RouteMemory } from './route-memory.js';
import { readName } from './route-names.js';
import { MAX_ROUTES } from './speed-memory.js';

/** After a cooldown, one request in this time probes the route until it answers. */
export const PROBE_EVERY_MS = 1_000;
/**
 * Longest cooldown of a pooled account, whatever its vendor says; the vendor is asked again
 * afterwards.
 */
export const MAX_REST_MS = 3_600_000;
/** A route untried for this long after its pause no longer counts as failing. */
export const FORGIVEN_AFTER_MS = 300_000;
/** A local success this recent outweighs failures that another instance reports. */
const LOCAL_EVIDENCE_MS = 2_000;
/** A pause that grew by at least this much is reported to other instances. */
const REPORTED_STEP_MS = 250;

/** Notifies other instances; names are route names, see `route-names.ts`. */
export interface HealthWatcher {
  /** A pause began, changed or ended early. */
  changed(name: string): void;
  /** A request probes a route that failures paused. */
  trying(name: string): void;
}

/** Holds the health of routes by name, and what instances exchange about it. */
export class RouteMemories {
  private readonly memories = boundedCache<string, RouteMemory>(MAX_ROUTES);
  /** When an answer last completed, by provider name. */
  private readonly reachedMs = boundedCache<string, number>(MAX_ROUTES);
  /** Undefined on a single instance. */
  watcher: HealthWatcher | undefined;

  /**
   * @param longestPauseMs for routes that are not pooled accounts
   */
  constructor(
    private readonly longestPauseMs: () => number,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  get size(): number {
    return this.memories.size;
  }

  /** Iterates over the routes, oldest first. */
  *[Symbol.iterator](): Generator<[string, RouteMemory]> {
    for (const name of this.memories.rkeys()) yield [name, this.memories.peek(name)!];
  }

  get(name: string): RouteMemory | undefined {
    return this.memories.peek(name);
  }

  /** Returns the memory of a route, creating it if needed. */
  of(name: string): RouteMemory {
    let memory = this.memories.peek(name);
    if (!memory) {
      memory = {
        triedMs: -Infinity,
        failures: 0,
        coolUntilMs: 0,
        changedMs: -Infinity,
        reportedUntilMs: 0,
        completedMs: -Infinity,
        isWanted: false,
      };
      this.memories.set(name, memory);
    }
    return memory;
  }

  /** Returns whether the route is paused. Called for a request that would take it. */
  rests(name: string, nowMs: number): boolean {
    const memory = this.memories.peek(name);
    if (memory === undefined || memory.coolUntilMs <= nowMs) return false;
    memory.isWanted = true;
    return true;
  }

  beginPause(name: string, nowMs: number, pauseMs: number): void {
    const memory = this.of(name);
    memory.coolUntilMs = nowMs + pauseMs;
    if (pauseMs <= 0) return;
    memory.changedMs = nowMs;
    // A route under constant failing calls restarts its pause all the time; only real growth is
    // reported.
    const step = Math.min(REPORTED_STEP_MS, pauseMs / 2);
    if (memory.coolUntilMs - memory.reportedUntilMs < step) return;
    memory.reportedUntilMs = memory.coolUntilMs;
    this.watcher?.changed(name);
  }

  /** Ends a pause caused by failures. A cooldown requested by the vendor stays. */
  endPause(name: string, memory: RouteMemory, nowMs: number): void {
    if (!isOpen(memory)) return;
    memory.changedMs = nowMs;
    memory.coolUntilMs = 0;
    memory.reportedUntilMs = 0;
    this.watcher?.changed(name);
  }

  /** Records a completed answer. */
  complete(name: string, providerName: string, nowMs: number): void {
    const memory = this.memories.peek(name);
    if (!memory) return;
    memory.failures = 0;
    memory.completedMs = nowMs;
    this.reachedMs.set(providerName, nowMs);
  }

  /** Records a request that tries the route. */
  tryOut(name: string, nowMs: number): void {
    if (this.reserveProbe(name, nowMs)) this.watcher?.trying(name);
  }

  /**
   * Reserves a paused, failing route for a single probe, of this instance or another.
   *
   * @returns whether the route is paused for failures
   */
  reserveProbe(name: string, nowMs = this.clock.monotonicMs()): boolean {
    const memory = this.memories.peek(name);
    if (!memory || !isOpen(memory)) return false;
    memory.coolUntilMs = Math.max(memory.coolUntilMs, nowMs + PROBE_EVERY_MS);
    return true;
  }

  /** Returns the remaining pause of a failing route, in ms; undefined for others. */
  openForMs(name: string): number | undefined {
    const memory = this.memories.peek(name);
    return memory && isOpen(memory)
      ? Math.max(0, memory.coolUntilMs - this.clock.monotonicMs())
      : undefined;
  }

  /** Returns whether a request wanted the route during its pause, and resets that. */
  takeWanted(name: string): boolean {
    const memory = this.memories.peek(name);
    if (!memory?.isWanted) return false;
    memory.isWanted = false;
    return true;
  }

  /** Returns what to report about a route. */
  newsOf(name: string, nowMs = this.clock.monotonicMs()): RouteNews {
    return newsOf(name, this.memories.peek(name), nowMs);
  }

  /** Returns the reports on all routes that are not healthy. */
  allNews(nowMs = this.clock.monotonicMs()): RouteNews[] {
    return [...this]
      .filter(([, { coolUntilMs }]) => coolUntilMs > Math.max(0, nowMs - FORGIVEN_AFTER_MS))
      .map(([name]) => this.newsOf(name, nowMs))
      .filter(({ type }) => type !== 'well');
  }

  /** Adopts another instance's report, unless something newer is known here. */
  learn({ type, name, ageMs, restMs }: RouteNews, nowMs = this.clock.monotonicMs()): void {
    const known = this.memories.peek(name);
    const changedMs = nowMs - ageMs;
    if (known && known.changedMs > changedMs) return;
    if (type === 'well') {
      if (!known) return;
      if (isOpen(known)) known.coolUntilMs = 0;
      known.failures = 0;
      known.changedMs = changedMs;
      return;
    }
    // A model's name is never a provider's.
    const seenWellMs = this.reachedMs.peek(name) ?? known?.completedMs ?? -Infinity;
    if (type === 'open' && nowMs - seenWellMs < LOCAL_EVIDENCE_MS) return;
    // Reports from others must not evict local knowledge.
    if (!known && this.memories.size >= MAX_ROUTES) return;
    const memory = this.of(name);
    if (type === 'open') memory.failures = Math.max(memory.failures, FAILURES_TO_OPEN - 1);
    const { isOwn, account } = readName(name);
    const mayBePooled = type === 'cooling' && (isOwn || account !== undefined);
    const limitMs = mayBePooled ? MAX_REST_MS : this.longestPauseMs();
    memory.coolUntilMs = Math.max(memory.coolUntilMs, nowMs + Math.min(restMs, limitMs));
    memory.reportedUntilMs = memory.coolUntilMs;
    memory.changedMs = changedMs;
  }
}
