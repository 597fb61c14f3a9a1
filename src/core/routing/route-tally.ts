import type { Usage } from '../../canonical/usage.js';
import type { PlannedRoute } from './plan.js';

/** What is counted together: a multiple of it fits every other step of time that is shown. */
export const PERIOD_MS = 300_000;

type TalliedRoute = Pick<PlannedRoute, 'provider' | 'catalogueId' | 'byok'>;

/** What became of calls to a route within one period. */
export interface RouteCount {
  /** Its begin. */
  readonly periodMs: number;
  readonly provider: string;
  /** A row of the catalogue: callers make up the names in families. */
  readonly model: string;
  answered: number;
  /** Without an answer, or broken off in the middle of one: that is an answer and a failure. */
  failed: number;
  /** Of the answers to their first content, in all. */
  latencyMs: number;
  /** Of answers that came to their end, by the vendor's own count; cached ones are prompt tokens as well. */
  promptTokens: number;
  cachedTokens: number;
  /** Of those with tokens of output, and how long they took from their calls to their ends. */
  outputTokens: number;
  outputMs: number;
}

/** What is added up of a route. */
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
 * Counts what became of calls to routes until it is written down. What a vendor rightly refused, what its caller
 * left and what went over tenants' own accounts says nothing of a route, and is not counted.
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

  /** Hands over what has been counted, and begins again. */
  take(): RouteCount[] {
    const counts = [...this.counts.values()];
    this.counts = new Map();
    return counts;
  }

  /** Keeps what could not be written down for the next time. */
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
