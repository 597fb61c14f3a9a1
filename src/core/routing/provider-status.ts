/** One probe of a provider. */
export interface ProbeSample {
  /** When it ended, in Unix milliseconds. */
  atMs: number;
  latencyMs: number;
  isOk: boolean;
}

/** What the probes of the last seconds say. */
export interface ProbeSummary {
  /** Milliseconds, whole. */
  latencyP50: number;
  latencyP99: number;
  /** 0 to 1. */
  errorRate: number;
}

export const PROVIDER_STATUSES = ['healthy', 'degraded', 'unhealthy', 'unknown'] as const;
export type ProviderStatus = (typeof PROVIDER_STATUSES)[number];

const HEALTHY = { errorRate: 0.05, latencyMs: 500 };
const DEGRADED = { errorRate: 0.2, latencyMs: 2_000 };

/**
 * Latencies are those of the probes that were answered; a refused connection is quick and says
 * nothing about speed. Where none was answered, the time that was waited in vain is shown.
 *
 * @param samples at least one
 */
export function summarizeProbes(samples: readonly ProbeSample[]): ProbeSummary {
  const answered = samples.filter((sample) => sample.isOk);
  const latencies = (answered.length > 0 ? answered : samples)
    .map((sample) => sample.latencyMs)
    .sort((one, other) => one - other);
  return {
    latencyP50: Math.round(percentile(latencies, 0.5)),
    latencyP99: Math.round(percentile(latencies, 0.99)),
    errorRate: (samples.length - answered.length) / samples.length,
  };
}

/** The interface's thresholds; the median decides about latency. */
export function statusOf({ errorRate, latencyP50 }: ProbeSummary): ProviderStatus {
  const isBelow = (limit: typeof HEALTHY): boolean =>
    errorRate < limit.errorRate && latencyP50 < limit.latencyMs;
  if (isBelow(HEALTHY)) return 'healthy';
  return isBelow(DEGRADED) ? 'degraded' : 'unhealthy';
}

/** The nearest rank: a latency that was really measured. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}
