import type { Usage } from '../../canonical/usage.js';
import type { PlannedRoute } from './plan.js';

/** Counting period. Every displayed step is a multiple of it. */
export const PERIOD_MS = 300_000;

type TalliedRoute = Pick<PlannedRoute, 'provider' | 'catalogueId' | 'byok'>;

/** Outcomes of calls to a route within one period. */
export interface RouteCount {
  /** Start of the period. */
  readonly periodMs: number;
  readonly provider: string;
  /** Catalogue row, because callers can invent names in families. */
  readonly model: string;
  answered: number;
  /** Without an answer, or interrupted; the latter also counts as answered. */
  failed: number;
  /** Total time to the first content of answers. */
  latencyMs: number;
  /** Prompt tokens of completed answers as counted by the vendor, including cached ones. */
  promptTokens: number;
  cachedTokens: number;
  /** Output tokens of completed answers, and those answers' total duration from call to end. */
  outputTokens: number;
  outputMs: number;
}

/** Summed fields. */
const SUMS = [
  'answered',
  'failed',
  'latencyMs',
  'promptTokens',
  'cachedTokens',
  'outputTokens',
  'outputMs',
] as const satisfies readonly (keyof RouteCount)[];

/**
 * Counts outcomes of calls to routes until they are stored. Ignores caller errors, abandoned calls
 * and BYOK accounts, which say nothing about a route.
 */
export class RouteTally {
  private counts = new Map<string, RouteCount>();

  noteAnswer(route: TalliedRoute, latencyMs: number): void {
    const count = this.countOf(route);
    if (!count) return;
    count.answered++;
    count.latencyMs += latencyMs;
  }

  noteUsage(route: TalliedRoute, usage: Usage, durationMs: number): void {
    const count = this.countOf(route);
    if (!count) return;
    count.promptTokens += usage.inputTokens;
    count.cachedTokens += usage.cacheReadTokens;
    if (usage.outputTokens === 0) return;
    count.outputTokens += usage.outputTokens;
    count.outputMs += durationMs;
  }

  noteFailure(route: TalliedRoute): void {
    const count = this.countOf(route);
    if (count) count.failed++;
  }

  /** Returns and resets the counts. */
  take(): RouteCount[] {
    const counts = [...this.counts.values()];
    this.counts = new Map();
    return counts;
  }

  /** Restores counts that could not be stored. */
  putBack(counts: readonly RouteCount[]): void {
    for (const { periodMs, provider, model, ...sums } of counts) {
      const count = this.at(periodMs, provider, model);
      for (const sum of SUMS) count[sum] += sums[sum];
    }
  }

  private countOf({ provider, catalogueId, byok }: TalliedRoute): RouteCount | undefined {
    if (byok) return undefined;
    return this.at(Math.floor(Date.now() / PERIOD_MS) * PERIOD_MS, provider, catalogueId);
  }

  private at(periodMs: number, provider: string, model: string): RouteCount {
    const key = `${periodMs} ${provider} ${model}`;
    let count = this.counts.get(key);
    if (!count) {
      count = {
        periodMs,
        provider,
        model,
        answered: 0,
        failed: 0,
        latencyMs: 0,
        promptTokens: 0,
        cachedTokens: 0,
        outputTokens: 0,
        outputMs: 0,
      };
      this.counts.set(key, count);
    }
    return count;
  }
}
