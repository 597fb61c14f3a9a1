/** One probe of a provider. */
export interface ProbeSample {
  /** End of the probe, in Unix ms. */
  atMs: number;
  latencyMs: number;
  isOk: boolean;
}

/** Summary of recent probes. */
export interface ProbeSummary {
  /** In whole ms. */
  latencyP50: number;
  latencyP99: number;
  /** From 0 to 1. */
  errorRate: number;
}

export const PROVIDER_STATUSES = ['healthy', 'degraded', 'unhealthy', 'unknown'] as const;
export type ProviderStatus = (typeof PROVIDER_STATUSES)[number];

const HEALTHY = { errorRate: 0.05, latencyMs: 500 };
const DEGRADED = { errorRate: 0.2, latencyMs: 2_000 };

/**
 * Summarizes probes. Latencies are those of answered probes, because a refused connection is fast
 * but says nothing about speed. Without an answer, uses the time spent waiting.
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

/** Applies the interface's thresholds to the error rate and the median latency. */
export function statusOf({ errorRate, latencyP50 }: ProbeSummary): ProviderStatus {
  const isBelow = (limit: typeof HEALTHY): boolean =>
    errorRate < limit.errorRate && latencyP50 < limit.latencyMs;
  if (isBelow(HEALTHY)) return 'healthy';
  return isBelow(DEGRADED) ? 'degraded' : 'unhealthy';
}

/** Nearest rank, so the result is a measured latency. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}
