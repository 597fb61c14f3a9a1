import {
  SpeedSketch,
  type PackedCounts,
  type PackedSketch,
  type Percentiles,
} from './speed-sketch.js';

/** Speeds kept per route for `tokensPerSecond`. */
const SAMPLES = 32;
/** Of the speeds seen, so many are slower than what is taken for the route's: short answers slow it down. */
const SPEED_QUANTILE = 0.75;
/** Shorter ones tell more of the network's pieces than of the model. */
const MIN_SPEED_MS = 100;
/** Answers of fewer tokens are mostly waiting, of the vendor or for a slow reader. */
const MIN_SPEED_TOKENS = 64;
/** For so long figures that were worked out are given again. */
const FRESH_MS = 1_000;
/** Callers make up the names in families of models; beyond this many the oldest route is forgotten. */
export const MAX_ROUTES = 10_000;

/** How fast a route answers. Percentiles of both rise: p90 of the speeds is that of fast answers. */
export interface RouteSpeed {
  /** To the first content, in ms; undefined before the first answer. */
  readonly latencyMs: Percentiles | undefined;
  /** Output tokens a second from call to end, hidden reasoning included; undefined before the first long answer. */
  readonly tokensPerSecond: Percentiles | undefined;
  /** Answers that have begun. */
  readonly samples: number;
}

interface Figures {
  readonly latencies: SpeedSketch;
  readonly speeds: SpeedSketch;
  /** The last ones of this process, as a ring. */
  readonly lastSpeeds: number[];
  next: number;
  /** As of `readMs`. */
  read: RouteSpeed | undefined;
  readMs: number;
}

/** Figures of a route as they travel, of latencies and of tokens a second. */
interface Packed<Form> {
  readonly name: string;
  readonly latencies: Form;
  readonly speeds: Form;
}

/** How fast routes have answered, here and at other instances, by the names that `RouteHealth` gives them. */
export class SpeedMemory {
  private readonly routes = new Map<string, Figures>();
  /** With figures that other instances have not been told of. */
  private readonly untold = new Set<string>();

  noteLatency(name: string, latencyMs: number, nowMs: number): void {
    this.figures(name, nowMs).latencies.add(latencyMs, nowMs);
    this.markUntold(name);
  }

  /** An answer of so many tokens has come to its end. Short ones say nothing. */
  noteAnswer(name: string, tokens: number, durationMs: number, nowMs: number): void {
    if (durationMs < MIN_SPEED_MS || tokens < MIN_SPEED_TOKENS) return;
    const figures = this.figures(name, nowMs);
    const speed = (tokens * 1000) / durationMs;
    figures.speeds.add(speed, nowMs);
    this.markUntold(name);
    figures.lastSpeeds[figures.next] = speed;
    figures.next = (figures.next + 1) % SAMPLES;
  }

  /** As of the last second; undefined where nothing is remembered. */
  of(name: string, nowMs: number): RouteSpeed | undefined {
    const figures = this.routes.get(name);
    if (!figures) return undefined;
    if (nowMs - figures.readMs >= FRESH_MS) {
      figures.readMs = nowMs;
      figures.read = read(figures, nowMs);
    }
    return figures.read;
  }

  /** Of this process's last answers; undefined before the first. */
  tokensPerSecond(name: string): number | undefined {
    const sorted = [...(this.routes.get(name)?.lastSpeeds ?? [])].sort((one, other) => one - other);
    return sorted[Math.floor(sorted.length * SPEED_QUANTILE)];
  }

  /** Hands over what other instances have not been told of, of so many routes at most. */
  takeUntold(limit: number): Packed<PackedCounts>[] {
    const taken: Packed<PackedCounts>[] = [];
    for (const name of this.untold) {
      if (taken.length === limit) break;
      this.untold.delete(name);
      const figures = this.routes.get(name);
      if (!figures) continue;
      const { latencies, speeds } = figures;
      taken.push({ name, latencies: latencies.takeUntold(), speeds: speeds.takeUntold() });
    }
    return taken;
  }

  /** All that is remembered, of so many routes at most. */
  pack(limit: number, nowMs: number): Packed<PackedSketch>[] {
    const packed: Packed<PackedSketch>[] = [];
    for (const [name, { latencies, speeds }] of this.routes) {
      if (packed.length === limit) break;
      if (latencies.samples(nowMs) + speeds.samples(nowMs) === 0) continue;
      packed.push({ name, latencies: latencies.pack(nowMs), speeds: speeds.pack(nowMs) });
    }
    return packed;
  }

  /** Adds what another instance has seen. */
  merge({ name, latencies, speeds }: Packed<PackedCounts>, nowMs: number): void {
    const figures = this.othersFigures(name, nowMs);
    figures?.latencies.merge(latencies, nowMs);
    figures?.speeds.merge(speeds, nowMs);
  }

  /** Takes over what another instance remembers, where that is more. */
  adopt({ name, latencies, speeds }: Packed<PackedSketch>, nowMs: number): void {
    const figures = this.othersFigures(name, nowMs);
    figures?.latencies.adopt(latencies, nowMs);
    figures?.speeds.adopt(speeds, nowMs);
  }

  private markUntold(name: string): void {
    if (this.untold.size < MAX_ROUTES) this.untold.add(name);
  }

  /** What others tell makes nothing be forgotten. */
  private othersFigures(name: string, nowMs: number): Figures | undefined {
    const isFull = this.routes.size >= MAX_ROUTES && !this.routes.has(name);
    return isFull ? undefined : this.figures(name, nowMs);
  }

  private figures(name: string, nowMs: number): Figures {
    let figures = this.routes.get(name);
    if (!figures) {
      figures = {
        latencies: new SpeedSketch(nowMs),
        speeds: new SpeedSketch(nowMs),
        lastSpeeds: [],
        next: 0,
        read: undefined,
        readMs: -Infinity,
      };
      forgetOldest(this.routes);
      this.routes.set(name, figures);
    }
    return figures;
  }
}

/** Makes room for one more. */
export function forgetOldest(routes: Map<string, unknown>): void {
  if (routes.size < MAX_ROUTES) return;
  const [oldest] = routes.keys();
  if (oldest !== undefined) routes.delete(oldest);
}

function read({ latencies, speeds }: Figures, nowMs: number): RouteSpeed | undefined {
  const latencyMs = latencies.percentiles(nowMs);
  const tokensPerSecond = speeds.percentiles(nowMs);
  if (!latencyMs && !tokensPerSecond) return undefined;
  return { latencyMs, tokensPerSecond, samples: latencies.samples(nowMs) };
}
