import { Inject, Injectable, Optional } from '@nestjs/common';
import { Counter, Histogram, collectDefaultMetrics } from 'prom-client';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { RecentRequests } from './recent-requests.js';
import { TrackedMetrics } from './tracked-metrics.js';

/** The default of 10 ms wakes an idle process a hundred times a second; the measured delays include this interval. */
const EVENT_LOOP_LOOK_EVERY_MS = 50;

/** A finished request as metrics see it, without its tenant. */
export interface ObservedRequest {
  endpoint: string;
  provider: string;
  /** The catalogue row; for a member of a family the family's, which keeps labels few. */
  catalogueId: string;
  outcome: string;
  inputTokens: number;
  /** Part of `inputTokens`. */
  cachedTokens: number;
  outputTokens: number;
  cost: number;
  shortfall: number;
  latencyMs: number;
  /** From the arrival of the request to its first content; undefined without content. */
  firstContentMs: number | undefined;
}

const LATENCY_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];
/** Failed outcomes as the request log defines them; a cancelled request is not one. */
const FAILED_OUTCOMES: ReadonlySet<string> = new Set(['failed', 'timeout', 'refused']);
const DEFAULT_REQUEST_LIMIT_MS = 600_000;
const LEDGER_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2];

/** The children of one label combination, looked up once instead of hashed per request. */
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
  /** Requests of this process in the last minute. */
  readonly recent = new RecentRequests();
  private readonly series = new Map<string, RequestSeries>();
  private readonly attemptSeries = new Map<string, Counter.Internal>();
  private readonly latency: Histogram;
  private readonly firstContent: Histogram;

  private readonly requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Requests that had a plan, by outcome.',
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
    help: 'Requests that a limit of the gateway rejected.',
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
    help: 'Settled input tokens that vendors read from their prompt caches.',
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
    help: 'Credits of charges that the operator paid because the tenant had none left.',
    registers: [this.registry],
  });
  private readonly cappedUsage = new Counter({
    name: 'gateway_usage_capped_total',
    help: 'Answers whose reported usage exceeded what the model can use and was capped.',
    labelNames: ['provider', 'model'],
    registers: [this.registry],
  });
  private readonly attempts = new Counter({
    name: 'gateway_route_attempts_total',
    help: 'Calls to vendors, by outcome.',
    labelNames: ['provider', 'model', 'outcome'],
    registers: [this.registry],
  });
  private readonly hedges = new Counter({
    name: 'gateway_hedges_total',
    help: 'Requests whose first route stayed silent for the hedging delay, by outcome.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  private readonly recoveries = new Counter({
    name: 'gateway_recoveries_total',
    help: 'Interrupted streams that another route was to resume, by outcome.',
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
    help: 'Time to reserve credits.',
    buckets: LEDGER_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  private readonly settle = new Histogram({
    name: 'gateway_settle_seconds',
    help: 'Time to commit a settlement.',
    buckets: LEDGER_BUCKETS_SECONDS,
    registers: [this.registry],
  });
  private readonly settlements = new Counter({
    name: 'gateway_settlements_total',
    help: 'Settlements that bypassed their commit: journalled at the end of a process, recovered from a journal, or lost.',
    labelNames: ['fate'],
    registers: [this.registry],
  });
  private readonly webhooks = new Counter({
    name: 'gateway_webhook_deliveries_total',
    help: 'Webhook delivery attempts, by outcome.',
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
      help: 'Time from the arrival of a request to the end of its answer.',
      ...common,
    });
    this.firstContent = new Histogram({
      name: 'gateway_first_content_seconds',
      help: 'Time from the arrival of a request to the first content of its answer.',
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

  /** @param limit the gateway's own limit, if one refused */
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

  /** @param outcome `refused`: the stream could not be resumed from there, as in the middle of a tool call */
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

/** Returns buckets up to the request limit, so that no quantile is extrapolated. */
function bucketsUpTo(limitSeconds: number): number[] {
  return [...LATENCY_BUCKETS_SECONDS.filter((bound) => bound < limitSeconds), limitSeconds];
}
