import { describe, expect, it } from '@jest/globals';
import { latencyPercentile } from './roll-up-statements.js';

describe(latencyPercentile.name, () => {
  it('is within 5 %, plus rounding, of the true percentile', () => {
    const latencies = Array.from({ length: 2_000 }, (_, index) => 3 + ((index * 7_919) % 60_000));
    const counts: number[] = [];
    for (const latency of latencies) {
      const bucket = 1 + Math.floor(Math.log(latency) / Math.log(1.1));
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    const sorted = [...latencies].sort((left, right) => left - right);
    for (const fraction of [0.01, 0.5, 0.9, 0.99, 1]) {
      const exact = sorted[Math.ceil(sorted.length * fraction) - 1]!;
      const estimate = latencyPercentile(Array.from(counts), fraction)!;
      expect(Math.abs(estimate - exact)).toBeLessThanOrEqual(exact * 0.05 + 1);
    }
  });

  it('returns 0 for less than a millisecond', () => {
    expect(latencyPercentile([3, 1], 0.5)).toBe(0);
    expect(latencyPercentile([3, 1], 0.99)).toBe(1);
  });

  it('treats gaps as empty buckets', () => {
    expect(latencyPercentile([0, null, null, 5], 0.5)).toBe(Math.round(1.1 ** 2.5));
  });

  it('returns undefined without requests', () => {
    expect(latencyPercentile([0, null], 0.5)).toBeUndefined();
  });
});
