import { boundedCache } from '../../../platform/memory/bounded-cache.js';
import {
  SpeedSketch,
  type PackedCounts,
  type PackedSketch,
  type Percentiles,
} from './speed-sketch.js';

/** Latest speeds per route that `tokensPerSecond` uses. */
const SAMPLES = 32;
/** Quantile taken as the route's speed; high, because short answers pull speeds down. */
const SPEED_QUANTILE = 0.75;
/** Shorter durations reflect network chunks, not the model. */
const MIN_SPEED_MS = 100;
/** Shorter answers are dominated by waiting, for the vendor or a slow reader. */
const MIN_SPEED_TOKENS = 64;
/** How long computed percentiles are reused. */
const FRESH_MS = 1_000;
/** Callers can invent names in model families; beyond this limit the oldest route is forgotten. */
export const MAX_ROUTES = 10_000;

/** Speed of a route. Both percentiles rise: p90 of speeds is that of fast answers. */
export interface RouteSpeed {
  /** To the first content, in ms; undefined before the first answer. */
  readonly latencyMs: Percentiles | undefined;
  /**
   * Output tokens per second over the whole call, hidden reasoning included; undefined before the
   * first long answer.
   */
  readonly tokensPerSecond: Percentiles | undefined;
  /** Answers that have begun. */
  readonly samples: number;
}

interface Figures {
  readonly latencies: SpeedSketch;
  readonly speeds: SpeedSketch;
  /** Ring of this process's latest speeds. */
  readonly lastSpeeds: number[];
  next: number;
  /** Percentiles as of `readMs`. */
  read: RouteSpeed | undefined;
  readMs: number;
}

/** A route's figures in a message: latencies, and tokens per second. */
interface Packed<Form> {
  readonly name: string;
  readonly latencies: Form;
  readonly speeds: Form;
}

/** Remembers how fast routes answer, here and on other instances, by `RouteHealth`'s names. */
export class SpeedMemory {
  private readonly routes = boundedCache<string, Figures>(MAX_ROUTES);
  /** Routes with figures not yet sent to other instances. */
  private readonly unsent = new Set<string>();

  noteLatency(name: string, latencyMs: number, nowMs: number): void {
    this.figures(name, nowMs).latencies.add(latencyMs, nowMs);
    this.markUnsent(name);
  }

  /** Records a completed answer. Ignores short ones. */
  noteAnswer(name: string, tokens: number, durationMs: number, nowMs: number): void {
    if (durationMs < MIN_SPEED_MS || tokens < MIN_SPEED_TOKENS) return;
    const figures = this.figures(name, nowMs);
    const speed = (tokens * 1000) / durationMs;
    figures.speeds.add(speed, nowMs);
    this.markUnsent(name);
    figures.lastSpeeds[figures.next] = speed;
    figures.next = (figures.next + 1) % SAMPLES;
  }

  /** Returns the speed, at most a second old; undefined for unknown routes. */
  of(name: string, nowMs: number): RouteSpeed | undefined {
    const figures = this.routes.peek(name);
    if (!figures) return undefined;
    if (nowMs - figures.readMs >= FRESH_MS) {
      figures.readMs = nowMs;
      figures.read = read(figures, nowMs);
    }
    return figures.read;
  }

  /** Returns the speed of this process's latest answers; undefined before the first. */
  tokensPerSecond(name: string): number | undefined {
    const sorted = [...(this.routes.peek(name)?.lastSpeeds ?? [])].sort(
      (one, other) => one - other,
    );
    return sorted[Math.floor(sorted.length * SPEED_QUANTILE)];
  }

  /** Returns and clears what other instances have not been sent, for at most `limit` routes. */
  takeUnsent(limit: number): Packed<PackedCounts>[] {
    const taken: Packed<PackedCounts>[] = [];
    for (const name of this.unsent) {
      if (taken.length === limit) break;
      this.unsent.delete(name);
      const figures = this.routes.peek(name);
      if (!figures) continue;
      const { latencies, speeds } = figures;
      taken.push({ name, latencies: latencies.takeUnsent(), speeds: speeds.takeUnsent() });
    }
    return taken;
  }

  /** Returns everything remembered, for at most `limit` routes. */
  pack(limit: number, nowMs: number): Packed<PackedSketch>[] {
    const packed: Packed<PackedSketch>[] = [];
    for (const [name, { latencies, speeds }] of this.routes.entries()) {
      if (packed.length === limit) break;
      if (latencies.samples(nowMs) + speeds.samples(nowMs) === 0) continue;
      packed.push({ name, latencies: latencies.pack(nowMs), speeds: speeds.pack(nowMs) });
    }
    return packed;
  }

  /** Adds another instance's measurements. */
  merge({ name, latencies, speeds }: Packed<PackedCounts>, nowMs: number): void {
    const figures = this.othersFigures(name, nowMs);
    figures?.latencies.merge(latencies, nowMs);
    figures?.speeds.merge(speeds, nowMs);
  }

  /** Adopts another instance's memory where it holds more. */
  adopt({ name, latencies, speeds }: Packed<PackedSketch>, nowMs: number): void {
    const figures = this.othersFigures(name, nowMs);
    figures?.latencies.adopt(latencies, nowMs);
    figures?.speeds.adopt(speeds, nowMs);
  }

  private markUnsent(name: string): void {
    if (this.unsent.size < MAX_ROUTES) this.unsent.add(name);
  }

  /** Returns undefined when the memory is full: others' reports must not evict local knowledge. */
  private othersFigures(name: string, nowMs: number): Figures | undefined {
    const isFull = this.routes.size >= MAX_ROUTES && !this.routes.has(name);
    return isFull ? undefined : this.figures(name, nowMs);
  }

  private figures(name: string, nowMs: number): Figures {
    let figures = this.routes.peek(name);
    if (!figures) {
      figures = {
        latencies: new SpeedSketch(nowMs),
        speeds: new SpeedSketch(nowMs),
        lastSpeeds: [],
        next: 0,
        read: undefined,
        readMs: -Infinity,
      };
      this.routes.set(name, figures);
    }
    return figures;
  }
}

function read({ latencies, speeds }: Figures, nowMs: number): RouteSpeed | undefined {
  const latencyMs = latencies.percentiles(nowMs);
  const tokensPerSecond = speeds.percentiles(nowMs);
  if (!latencyMs && !tokensPerSecond) return undefined;
  return { latencyMs, tokensPerSecond, samples: latencies.samples(nowMs) };
}
