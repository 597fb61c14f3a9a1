import type { LoggedAttempt } from '../../core/request-log/request-log-row.js';
import type { Usage } from '../../canonical/usage.js';
import type { UpstreamFailure } from '../../vendors/upstream-error.js';
import { draw } from './seeded-draw.js';
import { isUsed, latestCall, usageOf, type WindowRow } from './log-window.js';

/** A vendor's bad quarter of an hour is to show: what it did is counted by the length of time. */
const BUCKET_MS = 300_000;
/** Fewer calls in one bucket say less than all of the window do. */
const TELLING_CALLS = 20;
const SAMPLES = 256;
/** Of a route that nobody has asked in the window, nor any other. */
const UNKNOWN: AnswerSample = { firstMs: 800, restMs: 6_000, tokens: 300 };
/** What a short answer takes besides its tokens, in tokens. */
const FIXED_TOKENS = 50;

/** Failures as the log spells them. */
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

/** What a route did in the window. */
interface RouteMemory {
  readonly all: Counts;
  readonly buckets: Map<number, Counts>;
  readonly streamed: AnswerSample[];
  readonly whole: AnswerSample[];
  readonly failures: (LearnedFailure & { readonly durationMs: number })[];
  seen: number;
}

/** What became of a call in the log's words; undefined: the vendor has no part in it. */
export function failureOf({ outcome, status }: LoggedAttempt): LearnedFailure | undefined {
  if (outcome === 'answered' || outcome === 'uncovered' || outcome === 'unjoined') return undefined;
  if (outcome === 'aborted' || outcome === 'pending' || outcome === 'outpaced') return undefined;
  const failure = isFailure(outcome) ? outcome : status === 429 ? 'rate_limited' : 'server';
  return { failure, status: status ?? undefined };
}

function isFailure(outcome: string): outcome is UpstreamFailure {
  return FAILURES.has(outcome);
}

/** When a row's answer began and ended, after the call of its vendor. */
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
 * Vendors as the window's own rows show them: how often each route failed and how, in each five minutes of it,
 * and how fast it answered. It is asked only for what the log does not say of a request.
 */
export class LearnedVendors {
  private readonly routes = new Map<string, RouteMemory>();
  private readonly usages = new Map<string, { usage: Usage; seen: number }>();
  /** Providers that served somebody, other than over an account of a tenant's. */
  readonly providers = new Set<string>();
  readonly apiKeys = new Set<string>();
  readonly configVersions = new Set<number>();
  rows = 0;
  /** Of them, those that say what was asked for beyond a model. */
  askedRows = 0;

  learn(row: WindowRow): void {
    this.rows++;
    if (row.asked) this.askedRows++;
    this.apiKeys.add(row.apiKeyId);
    if (row.configVersion !== null) this.configVersions.add(row.configVersion);
    this.learnUsage(row);
    const bucket = bucketOf(row.createdAt.getTime());
    const latest = latestCall(row);
    for (const attempt of row.attempts) {
      const failure = failureOf(attempt);
      if (!failure && attempt.outcome !== 'answered') continue;
      if (row.trafficMode === 'shared') this.providers.add(providerIn(attempt.route));
      const memory = this.memoryOf(attempt.route);
      for (const counts of [memory.all, countsIn(memory.buckets, bucket)]) {
        if (failure) counts.failed++;
        else counts.answered++;
      }
      const place = this.placeIn(memory, row);
      if (failure) keep(memory.failures, { ...failure, durationMs: attempt.duration_ms }, place);
      else if (attempt === latest && row.outcome === 'completed') {
        keep(row.streamed ? memory.streamed : memory.whole, paceOf(row, attempt), place);
      }
    }
  }

  /** What a request for a model uses in the middle, where the log does not say; undefined: nobody had one. */
  usualUsage(model: string): Usage | undefined {
    return this.usages.get(model)?.usage;
  }

  /** Whether a call fails that the log knows nothing of, and how. */
  failure(route: string, atMs: number, ...seed: readonly (string | number)[]) {
    const memory = this.routes.get(route);
    if (!memory) return undefined;
    const then = memory.buckets.get(bucketOf(atMs));
    const { answered, failed } = then && callsIn(then) >= TELLING_CALLS ? then : memory.all;
    if (failed === 0 || draw('fails', route, ...seed) >= failed / (answered + failed)) {
      return undefined;
    }
    return pick(memory.failures, draw('how', route, ...seed));
  }

  /**
   * How long an answer takes that the log knows nothing of.
   *
   * @returns `isGuess` where the window has no answer of the route
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
    // What comes whole comes when all of it is made.
    const firstMs = streamed || tokens === 0 ? sample.firstMs : sample.firstMs * share;
    return { firstMs, restMs: sample.restMs * share, isGuess: own === undefined };
  }

  private samplesOf(route: string, streamed: boolean): AnswerSample[] | undefined {
    const memory = this.routes.get(route);
    if (!memory) return undefined;
    const [first, second] = streamed
      ? [memory.streamed, memory.whole]
      : [memory.whole, memory.streamed];
    return first.length > 0 ? first : second.length > 0 ? second : undefined;
  }

  /** The same model elsewhere is the best guess. */
  private samplesOfModel(route: string, streamed: boolean): AnswerSample[] | undefined {
    const model = route.slice(route.indexOf('/'));
    for (const other of this.routes.keys()) {
      if (!other.endsWith(model) || other.slice(other.indexOf('/')) !== model) continue;
      const samples = this.samplesOf(other, streamed);
      if (samples) return samples;
    }
    return undefined;
  }

  /** Running medians would take all of them; the first few hundred of a model are enough of a sample. */
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

  private memoryOf(route: string): RouteMemory {
    let memory = this.routes.get(route);
    if (!memory) {
      const all = { answered: 0, failed: 0 };
      memory = { all, buckets: new Map(), streamed: [], whole: [], failures: [], seen: 0 };
      this.routes.set(route, memory);
    }
    return memory;
  }

  /** Where a sample goes, so that those which are kept are any of all. */
  private placeIn(memory: RouteMemory, row: WindowRow): number {
    memory.seen++;
    return memory.seen <= SAMPLES
      ? Infinity
      : Math.floor(draw('sample', row.requestId) * memory.seen);
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

/** Of a route as the log names it: its alias may have slashes, its provider none. */
export function providerIn(route: string): string {
  return route.slice(0, route.indexOf('/'));
}

export function modelIn(route: string): string {
  return route.slice(route.indexOf('/') + 1);
}
