import type { LoggedAttempt } from '../../core/request-log/request-log-row.js';
import type { Usage } from '../../canonical/usage.js';
import type { UpstreamFailure } from '../../vendors/upstream-error.js';
import { draw } from './seeded-draw.js';
import { isUsed, latestCall, usageOf, type WindowRow } from './log-window.js';

/** Failure rates are counted per interval, so that a short outage of a vendor shows. */
const BUCKET_MS = 300_000;
/** With fewer calls in an interval, the rate of the whole window is used. */
const MIN_BUCKET_CALLS = 20;
const SAMPLES = 256;
/** For models that were not called in the window. */
const UNKNOWN: AnswerSample = { firstMs: 800, restMs: 6_000, tokens: 300 };
/** Time of an answer that does not depend on its length, expressed in tokens. */
const FIXED_TOKENS = 50;

/** Failures by their names in the log. */
const FAILURES: ReadonlySet<string> = new Set<UpstreamFailure>([
  ...(['connect', 'reset', 'timeout', 'rate_limited', 'server', 'operator'] as const),
  ...(['caller', 'context_length', 'unsupported', 'unreadable', 'cut', 'slow_reader'] as const),
]);

export interface LearnedFailure {
  readonly failure: UpstreamFailure;
  readonly status: number | undefined;
}

interface AnswerSample {
  readonly firstMs: number;
  /** From the first content to the end. */
  readonly restMs: number;
  readonly tokens: number;
}

interface Counts {
  answered: number;
  failed: number;
}

/** Statistics of a route over the window. */
interface RouteStats {
  readonly all: Counts;
  readonly buckets: Map<number, Counts>;
  readonly streamed: AnswerSample[];
  readonly whole: AnswerSample[];
  readonly failures: (LearnedFailure & { readonly durationMs: number })[];
  seen: number;
}

/** Returns the failure of a logged call, or undefined when the vendor did not fail. */
export function failureOf({ outcome, status }: LoggedAttempt): LearnedFailure | undefined {
  if (outcome === 'answered' || outcome === 'uncovered' || outcome === 'unjoined') return undefined;
  if (outcome === 'aborted' || outcome === 'pending' || outcome === 'outpaced') return undefined;
  const failure = isFailure(outcome) ? outcome : status === 429 ? 'rate_limited' : 'server';
  return { failure, status: status ?? undefined };
}

function isFailure(outcome: string): outcome is UpstreamFailure {
  return FAILURES.has(outcome);
}

/** Returns when a row's answer began and ended, relative to its vendor call. */
export function paceOf(row: WindowRow, attempt: LoggedAttempt): AnswerSample {
  const endMs = Math.max(row.latencyMs, attempt.started_ms);
  const firstMs = row.firstTokenMs ?? Math.max(0, row.latencyMs - row.generationTimeMs);
  const beganMs = Math.min(Math.max(firstMs, attempt.started_ms), endMs);
  return {
    firstMs: beganMs - attempt.started_ms,
    restMs: endMs - beganMs,
    tokens: row.completionTokens,
  };
}

/**
 * Statistics of vendors over the window: how often and how each route failed in each five minutes, and
 * how fast it answered. Used only for calls that the log does not record.
 */
export class LearnedVendors {
  private readonly routes = new Map<string, RouteStats>();
  private readonly usages = new Map<string, { usage: Usage; seen: number }>();
  /** Providers that served requests over shared capacity. */
  readonly providers = new Set<string>();
  readonly apiKeys = new Set<string>();
  readonly configVersions = new Set<number>();
  rows = 0;
  /** Rows that recorded their request options. */
  rowsWithOptions = 0;

  learn(row: WindowRow): void {
    this.rows++;
    if (row.requestOptions) this.rowsWithOptions++;
    this.apiKeys.add(row.apiKeyId);
    if (row.configVersion !== null) this.configVersions.add(row.configVersion);
    this.learnUsage(row);
    const bucket = bucketOf(row.createdAt.getTime());
    const latest = latestCall(row);
    for (const attempt of row.attempts) {
      const failure = failureOf(attempt);
      if (!failure && attempt.outcome !== 'answered') continue;
      if (row.trafficMode === 'shared') this.providers.add(providerIn(attempt.route));
      const stats = this.statsOf(attempt.route);
      for (const counts of [stats.all, countsIn(stats.buckets, bucket)]) {
        if (failure) counts.failed++;
        else counts.answered++;
      }
      const place = this.placeIn(stats, row);
      if (failure) keep(stats.failures, { ...failure, durationMs: attempt.duration_ms }, place);
      else if (attempt === latest && row.outcome === 'completed') {
        keep(row.streamed ? stats.streamed : stats.whole, paceOf(row, attempt), place);
      }
    }
  }

  /** Returns typical usage of a model, for rows without any. Undefined when no request had usage. */
  typicalUsage(model: string): Usage | undefined {
    return this.usages.get(model)?.usage;
  }

  /** Draws whether and how a call fails that the log does not record. */
  failure(route: string, atMs: number, ...seed: readonly (string | number)[]) {
    const stats = this.routes.get(route);
    if (!stats) return undefined;
    const then = stats.buckets.get(bucketOf(atMs));
    const { answered, failed } = then && callsIn(then) >= MIN_BUCKET_CALLS ? then : stats.all;
    if (failed === 0 || draw('fails', route, ...seed) >= failed / (answered + failed)) {
      return undefined;
    }
    return pick(stats.failures, draw('how', route, ...seed));
  }

  /**
   * Draws how long an answer takes that the log does not record.
   *
   * @returns `isGuess` when the window has no answer of the route
   */
  pace(
    route: string,
    { streamed, completionTokens: tokens }: Pick<WindowRow, 'streamed' | 'completionTokens'>,
    ...seed: readonly (string | number)[]
  ): { firstMs: number; restMs: number; isGuess: boolean } {
    const own = this.samplesOf(route, streamed);
    const samples = own ?? this.samplesOfModel(route, streamed);
    const sample = (samples && pick(samples, draw('pace', route, ...seed))) ?? UNKNOWN;
    const share = (tokens + FIXED_TOKENS) / (sample.tokens + FIXED_TOKENS);
    // A non-streamed answer arrives once all of it is generated.
    const firstMs = streamed || tokens === 0 ? sample.firstMs : sample.firstMs * share;
    return { firstMs, restMs: sample.restMs * share, isGuess: own === undefined };
  }

  private samplesOf(route: string, streamed: boolean): AnswerSample[] | undefined {
    const stats = this.routes.get(route);
    if (!stats) return undefined;
    const [first, second] = streamed
      ? [stats.streamed, stats.whole]
      : [stats.whole, stats.streamed];
    return first.length > 0 ? first : second.length > 0 ? second : undefined;
  }

  /** Uses the same model at another provider as the best guess. */
  private samplesOfModel(route: string, streamed: boolean): AnswerSample[] | undefined {
    const model = route.slice(route.indexOf('/'));
    for (const other of this.routes.keys()) {
      if (!other.endsWith(model) || other.slice(other.indexOf('/')) !== model) continue;
      const samples = this.samplesOf(other, streamed);
      if (samples) return samples;
    }
    return undefined;
  }

  /** Keeps one random row's usage per model, since a median would need all rows. */
  private learnUsage(row: WindowRow): void {
    const usage = usageOf(row);
    if (row.outcome !== 'completed' || !isUsed(usage)) return;
    const known = this.usages.get(row.model);
    if (!known) this.usages.set(row.model, { usage, seen: 1 });
    else {
      known.seen++;
      if (draw('usage', row.requestId) < 1 / known.seen) known.usage = usage;
    }
  }

  private statsOf(route: string): RouteStats {
    let stats = this.routes.get(route);
    if (!stats) {
      const all = { answered: 0, failed: 0 };
      stats = { all, buckets: new Map(), streamed: [], whole: [], failures: [], seen: 0 };
      this.routes.set(route, stats);
    }
    return stats;
  }

  /** Chooses where a sample goes, so that the kept samples are random (reservoir sampling). */
  private placeIn(stats: RouteStats, row: WindowRow): number {
    stats.seen++;
    return stats.seen <= SAMPLES
      ? Infinity
      : Math.floor(draw('sample', row.requestId) * stats.seen);
  }
}

function keep<Sample>(samples: Sample[], sample: Sample, place: number): void {
  if (samples.length < SAMPLES) samples.push(sample);
  else if (place < SAMPLES) samples[place] = sample;
}

function pick<Sample>(samples: readonly Sample[], fraction: number): Sample | undefined {
  return samples[Math.floor(fraction * samples.length)];
}

function bucketOf(ms: number): number {
  return Math.floor(ms / BUCKET_MS);
}

function countsIn(buckets: Map<number, Counts>, bucket: number): Counts {
  let counts = buckets.get(bucket);
  if (!counts) buckets.set(bucket, (counts = { answered: 0, failed: 0 }));
  return counts;
}

function callsIn({ answered, failed }: Counts): number {
  return answered + failed;
}

/** Returns the provider of a logged route. Model names can contain slashes, providers cannot. */
export function providerIn(route: string): string {
  return route.slice(0, route.indexOf('/'));
}

export function modelIn(route: string): string {
  return route.slice(route.indexOf('/') + 1);
}
