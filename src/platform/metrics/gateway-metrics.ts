import { Inject, Injectable, Optional } from '@nestjs/common';
import { Counter, Histogram, collectDefaultMetrics } from 'prom-client';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { RecentRequests } from './recent-requests.js';
import { TrackedMetrics } from './tracked-metrics.js';

/** The default of 10 ms wakes a process at rest a hundred times a second; its figures contain this interval. */
const EVENT_LOOP_LOOK_EVERY_MS = 50;

/** A finished request, as far as metrics are concerned: never whose it was. */
export interface ObservedRequest {
  endpoint: string;
  provider: string;
  /** The catalogue row, which for a member of a family is the family's: labels stay few. */
  catalogueId: string;
  outcome: string;
  inputTokens: number;
  /** Of `inputTokens`. */
  cachedTokens: number;
  outputTokens: number;
  cost: number;
  shortfall: number;
  latencyMs: number;
  /** From the arrival of the request to its first content; undefined when none came. */
  firstContentMs: number | undefined;
}

const LATENCY_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];
/** As the request log has them; one that its caller has left is none. */
const FAILED_OUTCOMES: ReadonlySet<string> = new Set(['failed', 'timeout', 'refused']);
const DEFAULT_REQUEST_LIMIT_MS = 600_000;
const LEDGER_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2];

/** The children of one label combination, looked up once instead of hashed at each request. */
interface RequestSeries {
  requests: Counter.Internal;
  inputTokens: Counter.Internal;
  cachedTokens: Counter.Internal;
  outputTokens: Counter.Internal;
  charged: Counter.Internal;
  latency: Histogram.Internal<string>;
  firstContent: Histogram.Internal<string>;
}

/** The service's Prometheus metrics. No label names a tenant or a key. */
@Injectable()
export class GatewayMetrics extends TrackedMetrics {
  /** What this process has done in the last minute. */
  readonly recent = new RecentRequests();
  private readonly series = new Map<string, RequestSeries>();
  private readonly attemptSeries = new Map<string, Counter.Internal>();
  private readonly latency: Histogram;
  private readonly firstContent: Histogram;

  private readonly requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Requests that had a plan, by how they ended.',
    labelNames: ['endpoint', 'provider', 'model', 'outcome'],
    registers: [this.registry],
  });
  private readonly errors = new Counter({
    name: 'gateway_errors_total',
    help: 'Error responses, by the type and status of their body.',
    labelNames: ['type', 'status'],
    registers: [this.registry],
  });
  private readonly refusals = new Counter({
    name: 'gateway_limit_refusals_total',
    help: 'Requests that a limit of the gateway refused.',
    labelNames: ['limit'],
    registers: [this.registry],
  });
  private readonly tokens = new Counter({
    name: 'gateway_tokens_total',
    help: 'Tokens settled.',
    labelNames: ['provider', 'model', 'direction'],
    registers: [this.registry],
  });
  private readonly cachedTokens = new Counter({
    name: 'gateway_cached_tokens_total',
    help: 'Input tokens settled that vendors read from their prompt caches.',
    labelNames: ['provider', 'model'],
    registers: [this.registry],
  });
  private readonly charged = new Counter({
    name: 'gateway_charged_credits_total',
    help: 'Credits charged (1 credit = 0.000001 USD).',
    labelNames: ['provider', 'model'],
    registers: [this.registry],
  });
  private readonly shortfall = new Counter({
    name: 'gateway_shortfall_credits_total',
    help: 'Credits of charges that the operator bore because the tenant had none left.',
    registers: [this.registry],
  });
  private readonly cappedUsage = new Counter({
    name: 'gateway_usage_capped_total',
    help: 'Answers whose usage a vendor gave beyond what the model can use, and that was capped.',
    labelNames: ['provider', 'model'],
    registers: [this.registry],
  });
  private readonly attempts = new Counter({
    name: 'gateway_route_attempts_total',
    help: 'Calls to vendors, by what became of them.',
    labelNames: ['provider', 'model', 'outcome'],
    registers: [this.registry],
  });
  private readonly hedges = new Counter({
    name: 'gateway_hedges_total',
    help: 'Requests whose first route was silent for as long as their callers would wait before a second is asked, by what became of that.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  private readonly recoveries = new Counter({
    name: 'gateway_recoveries_total',
    help: 'Streams that broke off and that another route was to go on with, by whether one did.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  private readonly cacheLookups = new Counter({
    name: 'gateway_cache_lookups_total',
    help: 'Requests that asked for a cached answer, by whether there was one.',
    labelNames: ['result'],
    registers: [this.registry],
  });
  private readonly hold = new Histogram({
    name: 'gateway_hold_seconds',
    help: 'How long it took to set credits aside.',
    buckets: LEDGER_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  private readonly settle = new Histogram({
    name: 'gateway_settle_seconds',
    help: 'How long it took to commit a settlement.',
    buckets: LEDGER_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  private readonly settlements = new Counter({
    name: 'gateway_settlements_total',
    help: 'Settlements that took another way than their commit: journalled at the end of a process, recovered from such a journal, or lost.',
    labelNames: ['fate'],
    registers: [this.registry],
  });
  private readonly webhooks = new Counter({
    name: 'gateway_webhook_deliveries_total',
    help: 'Attempts to deliver a webhook, by what became of them.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  constructor(@Optional() @Inject(APP_CONFIG) config?: Pick<AppConfig, 'limits'>) {
    super();
    const buckets = bucketsUpTo(
      (config?.limits.requestTimeoutMs ?? DEFAULT_REQUEST_LIMIT_MS) / 1000,
    );
    const common = { labelNames: ['provider', 'model'], buckets, registers: [this.registry] };
    this.latency = new Histogram({
      name: 'gateway_request_seconds',
      help: 'From the arrival of a request to the end of its answer.',
      ...common,
    });
    this.firstContent = new Histogram({
      name: 'gateway_first_content_seconds',
      help: 'From the arrival of a request to the first content of its answer.',
      ...common,
    });
    collectDefaultMetrics({
      register: this.registry,
      eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_EVERY_MS,
    });
  }

  observeRequest(request: ObservedRequest): void {
    const series = this.seriesOf(request);
    series.requests.inc();
    series.latency.observe(request.latencyMs / 1000);
    this.recent.note(FAILED_OUTCOMES.has(request.outcome), request.latencyMs);
    if (request.firstContentMs !== undefined) {
      series.firstContent.observe(request.firstContentMs / 1000);
    }
    if (request.inputTokens > 0) series.inputTokens.inc(request.inputTokens);
    if (request.cachedTokens > 0) series.cachedTokens.inc(request.cachedTokens);
    if (request.outputTokens > 0) series.outputTokens.inc(request.outputTokens);
    if (request.cost > 0) series.charged.inc(request.cost);
    if (request.shortfall > 0) this.shortfall.inc(request.shortfall);
  }

  /** @param limit of the gateway's own, where it refused */
  observeError(type: string, status: number, limit?: string): void {
    this.errors.inc({ type, status });
    if (limit !== undefined) this.refusals.inc({ limit });
  }

  observeAttempt(provider: string, catalogueId: string, outcome: string): void {
    const key = `${provider} ${outcome} ${catalogueId}`;
    let attempts = this.attemptSeries.get(key);
    if (!attempts) {
      attempts = this.attempts.labels({ provider, model: catalogueId, outcome });
      this.attemptSeries.set(key, attempts);
    }
    attempts.inc();
  }

  observeHedge(outcome: string): void {
    this.hedges.inc({ outcome });
  }

  /** @param outcome `refused`: nobody could go on from there, as in the middle of a tool call */
  observeRecovery(outcome: 'continued' | 'failed' | 'refused'): void {
    this.recoveries.inc({ outcome });
  }

  observeCappedUsage(provider: string, catalogueId: string): void {
    this.cappedUsage.inc({ provider, model: catalogueId });
  }

  observeWebhook(outcome: 'delivered' | 'retried' | 'dropped'): void {
    this.webhooks.inc({ outcome });
  }

  observeCacheLookup(isHit: boolean): void {
    this.cacheLookups.inc({ result: isHit ? 'hit' : 'miss' });
  }

  observeHold(durationMs: number): void {
    this.hold.observe(durationMs / 1000);
  }

  observeSettle(durationMs: number): void {
    this.settle.observe(durationMs / 1000);
  }

  observeSettlements(fate: 'journalled' | 'recovered' | 'lost', count: number): void {
    if (count > 0) this.settlements.inc({ fate }, count);
  }

  private seriesOf({
    endpoint,
    provider,
    catalogueId: model,
    outcome,
  }: ObservedRequest): RequestSeries {
    const key = `${endpoint} ${provider} ${outcome} ${model}`;
    let series = this.series.get(key);
    if (!series) {
      series = {
        requests: this.requests.labels({ endpoint, provider, model, outcome }),
        inputTokens: this.tokens.labels({ provider, model, direction: 'input' }),
        cachedTokens: this.cachedTokens.labels({ provider, model }),
        outputTokens: this.tokens.labels({ provider, model, direction: 'output' }),
        charged: this.charged.labels({ provider, model }),
        latency: this.latency.labels({ provider, model }),
        firstContent: this.firstContent.labels({ provider, model }),
      };
      this.series.set(key, series);
    }
    return series;
  }
}

/** Up to what a request may take, so that no quantile is a guess; what takes longer is no request. */
function bucketsUpTo(limitSeconds: number): number[] {
  return [...LATENCY_BUCKETS_SECONDS.filter((bound) => bound < limitSeconds), limitSeconds];
}
