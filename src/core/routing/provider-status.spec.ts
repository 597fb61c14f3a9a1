import { describe, expect, it } from '@jest/globals';
import { statusOf, summarizeProbes, type ProbeSample } from './provider-status.js';

const answered = (latencyMs: number): ProbeSample => ({ atMs: 0, latencyMs, isOk: true });
const failed = (latencyMs: number): ProbeSample => ({ atMs: 0, latencyMs, isOk: false });

describe(summarizeProbes.name, () => {
  it.each<[ProbeSample[], [number, number, number]]>([
    [[answered(10.4)], [10, 10, 0]],
    [
      [answered(30), answered(10), answered(20)],
      [20, 30, 0],
    ],
    [
      [answered(1), answered(2), answered(3), answered(4)],
      [2, 4, 0],
    ],
    [
      [answered(100), failed(1)],
      [100, 100, 0.5],
    ],
    [
      [failed(2_000.4), failed(1), failed(2_000.4)],
      [2_000, 2_000, 1],
    ],
  ])('of %j are %j', (samples, [latencyP50, latencyP99, errorRate]) => {
    expect(summarizeProbes(samples)).toEqual({ latencyP50, latencyP99, errorRate });
  });

  it('uses the highest of a hundred as p99', () => {
    const samples = Array.from({ length: 100 }, (_, index) => answered(index + 1));
    expect(summarizeProbes(samples)).toMatchObject({ latencyP50: 50, latencyP99: 99 });
  });
});

describe(statusOf.name, () => {
  it.each<[number, number, string]>([
    [0, 0, 'healthy'],
    [0.049, 499, 'healthy'],
    [0.05, 10, 'degraded'],
    [0, 500, 'degraded'],
    [0.199, 1_999, 'degraded'],
    [0.2, 10, 'unhealthy'],
    [0, 2_000, 'unhealthy'],
    [1, 10, 'unhealthy'],
  ])('of error rate %d and median %i ms is %s', (errorRate, latencyP50, status) => {
    expect(statusOf({ errorRate, latencyP50, latencyP99: 9_999 })).toBe(status);
  });
});
