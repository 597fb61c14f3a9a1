import { Inject, Injectable, Logger } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { within } from '../../platform/time/within.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import {
  statusOf,
  summarizeProbes,
  type ProbeSample,
  type ProbeSummary,
  type ProviderStatus,
} from './provider-status.js';

/** Concurrent probes: enough for a median, few enough to cause no load. */
const PROBES = 3;
/** A slower probe counts as failed. */
const PROBE_LIMIT_MS = 2_000;
/** How long a probe's result counts. */
const WINDOW_MS = 10_000;

export interface ProviderHealth {
  status: ProviderStatus;
  summary: ProbeSummary;
  checkedAt: Date;
}

/**
 * Probes providers on demand. Caches results for `GATEWAY_HEALTH_CACHE_MS`; concurrent callers
 * share one check.
 */
@Injectable()
export class ProviderHealthService {
  private readonly logger = new Logger(ProviderHealthService.name);
  private readonly samples = new Map<string, ProbeSample[]>();
  private readonly latest = new Map<string, ProviderHealth>();
  private readonly running = new Map<string, Promise<ProviderHealth>>();

  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly upstreams: UpstreamRegistry,
  ) {}

  /**
   * Returns a configured provider's health within about 2 s. Never throws for a provider's failure.
   */
  check(providerId: string): Promise<ProviderHealth> {
    const latest = this.latest.get(providerId);
    if (latest && Date.now() - latest.checkedAt.getTime() < this.config.healthCacheMs) {
      return Promise.resolve(latest);
    }
    let running = this.running.get(providerId);
    if (!running) {
      running = this.probeAll(providerId).finally(() => this.running.delete(providerId));
      this.running.set(providerId, running);
    }
    return running;
  }

  private async probeAll(providerId: string): Promise<ProviderHealth> {
    const fresh = await Promise.all(Array.from({ length: PROBES }, () => this.probe(providerId)));
    const checkedAt = new Date();
    const since = checkedAt.getTime() - WINDOW_MS;
    const known = this.samples.get(providerId) ?? [];
    const samples = [...known.filter((sample) => sample.atMs > since), ...fresh];
    this.samples.set(providerId, samples);
    const summary = summarizeProbes(samples);
    const health = { status: statusOf(summary), summary, checkedAt };
    this.latest.set(providerId, health);
    return health;
  }

  private async probe(providerId: string): Promise<ProbeSample> {
    const aborter = new AbortController();
    const limits = {
      firstByteMs: PROBE_LIMIT_MS,
      idleMs: PROBE_LIMIT_MS,
      requestMs: PROBE_LIMIT_MS,
    };
    const startedMs = performance.now();
    let isOk = false;
    try {
      const probe = this.upstreams.get(providerId).probe({ limits, signal: aborter.signal });
      await within(PROBE_LIMIT_MS, probe, () => {
        aborter.abort();
        const message = `no answer to a probe within ${PROBE_LIMIT_MS} ms`;
        throw new UpstreamError({ failure: 'timeout', message });
      });
      isOk = true;
    } catch (error) {
      this.report(providerId, error);
    }
    return { atMs: Date.now(), latencyMs: performance.now() - startedMs, isOk };
  }

  private report(providerId: string, error: unknown): void {
    if (error instanceof UpstreamError) {
      this.logger.warn(`probe of ${providerId} failed: ${error.summary}`);
    } else {
      this.logger.error(`probe of ${providerId} failed`, error);
    }
  }
}
