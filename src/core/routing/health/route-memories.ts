import type { Clock } from '../../../canonical/clock.js';
import type { RouteNews } from './health-message.js';
import { FAILURES_TO_OPEN, isOpen, newsOf, type RouteMemory } from './route-memory.js';
import { readName } from './route-names.js';
import { forgetOldest, MAX_ROUTES } from './speed-memory.js';

/** A route that has cooled down is tried by one request in this time until it answers. */
export const PROBE_EVERY_MS = 1_000;
/** The longest rest of an account of a pool, whatever a vendor says: its word is looked at again then. */
export const MAX_REST_MS = 3_600_000;
/** A route that was not tried for so long after its pause is no longer called failing. */
export const FORGIVEN_AFTER_MS = 300_000;
/** An answer that has come to its end here so lately counts for more than failures that another instance has seen. */
const OWN_EYES_MS = 2_000;
/** Others are told of a pause that has become longer by so much. */
const TOLD_STEP_MS = 250;

/** Who tells other instances; names are those of routes, see `route-names.ts`. */
export interface HealthWatcher {
  /** A pause has begun, has changed, or is over before its time. */
  changed(name: string): void;
  /** A request tries a route that failures have put on a pause. */
  trying(name: string): void;
}

/** How routes have fared, by their names, and what instances tell each other of it. */
export class RouteMemories {
  private readonly memories = new Map<string, RouteMemory>();
  /** When an answer of a provider last came to its end here, by the names of providers. */
  private readonly reachedMs = new Map<string, number>();
  /** Undefined where there are no others. */
  watcher: HealthWatcher | undefined;

  /** @param longestPauseMs of a route that is no account of a pool */
  constructor(
    private readonly longestPauseMs: () => number,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  get size(): number {
    return this.memories.size;
  }

  [Symbol.iterator](): IterableIterator<[string, RouteMemory]> {
    return this.memories.entries();
  }

  get(name: string): RouteMemory | undefined {
    return this.memories.get(name);
  }

  /** The same, made where there is none. */
  of(name: string): RouteMemory {
    let memory = this.memories.get(name);
    if (!memory) {
      memory = {
        triedMs: -Infinity,
        failures: 0,
        coolUntilMs: 0,
        turnedMs: -Infinity,
        toldUntilMs: 0,
        completedMs: -Infinity,
        isWanted: false,
      };
      forgetOldest(this.memories);
      this.memories.set(name, memory);
    }
    return memory;
  }

  /** Whether it is on a pause; asked for by a request that would take it. */
  rests(name: string, nowMs: number): boolean {
    const memory = this.memories.get(name);
    if (memory === undefined || memory.coolUntilMs <= nowMs) return false;
    memory.isWanted = true;
    return true;
  }

  beginPause(name: string, nowMs: number, pauseMs: number): void {
    const memory = this.of(name);
    memory.coolUntilMs = nowMs + pauseMs;
    if (pauseMs <= 0) return;
    memory.turnedMs = nowMs;
    // One that is asked in vain all the time begins its pause anew all the time, which is not worth a word.
    const step = Math.min(TOLD_STEP_MS, pauseMs / 2);
    if (memory.coolUntilMs - memory.toldUntilMs < step) return;
    memory.toldUntilMs = memory.coolUntilMs;
    this.watcher?.changed(name);
  }

  /** Ends a pause that failures brought. One that the vendor asked for stays. */
  endPause(name: string, memory: RouteMemory, nowMs: number): void {
    if (!isOpen(memory)) return;
    memory.turnedMs = nowMs;
    memory.coolUntilMs = 0;
    memory.toldUntilMs = 0;
    this.watcher?.changed(name);
  }

  /** An answer has come to its end. */
  complete(name: string, providerName: string, nowMs: number): void {
    const memory = this.memories.get(name);
    if (!memory) return;
    memory.failures = 0;
    memory.completedMs = nowMs;
    forgetOldest(this.reachedMs);
    this.reachedMs.set(providerName, nowMs);
  }

  /** A request tries the route. */
  tryOut(name: string, nowMs: number): void {
    if (this.leaveToProbe(name, nowMs)) this.watcher?.trying(name);
  }

  /**
   * Leaves a route that failures have put on a pause to one request, of this instance or of another.
   *
   * @returns whether it is such a route
   */
  leaveToProbe(name: string, nowMs = this.clock.monotonicMs()): boolean {
    const memory = this.memories.get(name);
    if (!memory || !isOpen(memory)) return false;
    memory.coolUntilMs = Math.max(memory.coolUntilMs, nowMs + PROBE_EVERY_MS);
    return true;
  }

  /** For how long such a route is still left alone in ms; undefined for others. */
  openForMs(name: string): number | undefined {
    const memory = this.memories.get(name);
    return memory && isOpen(memory)
      ? Math.max(0, memory.coolUntilMs - this.clock.monotonicMs())
      : undefined;
  }

  /** Whether a request would have taken the route while it was left alone, since this was last asked. */
  takeWanted(name: string): boolean {
    const memory = this.memories.get(name);
    if (!memory?.isWanted) return false;
    memory.isWanted = false;
    return true;
  }

  /** What other instances are to know of a route. */
  newsOf(name: string, nowMs = this.clock.monotonicMs()): RouteNews {
    return newsOf(name, this.memories.get(name), nowMs);
  }

  /** The same of all routes that are not well. */
  allNews(nowMs = this.clock.monotonicMs()): RouteNews[] {
    return [...this.memories]
      .filter(([, { coolUntilMs }]) => coolUntilMs > Math.max(0, nowMs - FORGIVEN_AFTER_MS))
      .map(([name]) => this.newsOf(name, nowMs))
      .filter(({ type }) => type !== 'well');
  }

  /** Takes over what another instance says of a route, unless something later is known here. */
  learn({ type, name, ageMs, restMs }: RouteNews, nowMs = this.clock.monotonicMs()): void {
    const known = this.memories.get(name);
    const turnedMs = nowMs - ageMs;
    if (known && known.turnedMs > turnedMs) return;
    if (type === 'well') {
      if (!known) return;
      if (isOpen(known)) known.coolUntilMs = 0;
      known.failures = 0;
      known.turnedMs = turnedMs;
      return;
    }
    // A model's name is no provider's.
    const seenWellMs = this.reachedMs.get(name) ?? known?.completedMs ?? -Infinity;
    if (type === 'open' && nowMs - seenWellMs < OWN_EYES_MS) return;
    // What others tell makes nothing be forgotten.
    if (!known && this.memories.size >= MAX_ROUTES) return;
    const memory = this.of(name);
    if (type === 'open') memory.failures = Math.max(memory.failures, FAILURES_TO_OPEN - 1);
    const { isOwn, account } = readName(name);
    const mayBePooled = type === 'cooling' && (isOwn || account !== undefined);
    const limitMs = mayBePooled ? MAX_REST_MS : this.longestPauseMs();
    memory.coolUntilMs = Math.max(memory.coolUntilMs, nowMs + Math.min(restMs, limitMs));
    memory.toldUntilMs = memory.coolUntilMs;
    memory.turnedMs = turnedMs;
  }
}
