import { describe, expect, it } from '@jest/globals';
import { RecentRequests } from './recent-requests.js';

describe(RecentRequests.name, () => {
  it('covers about the last minute and drops older requests', () => {
    const recent = new RecentRequests(0);
    recent.note(true, 10, 1_000);
    for (let index = 1; index <= 100; index++) recent.note(index > 96, index * 10, 30_000);
    expect(recent.read(40_000)).toMatchObject({ seconds: 40, requests: 101, errors: 5 });
    const later = recent.read(66_000);
    expect(later).toMatchObject({ seconds: 61, requests: 100, errors: 4 });
    expect(Math.abs(later.latency_p50! - 500)).toBeLessThan(50);
    expect(Math.abs(later.latency_p95! - 950)).toBeLessThan(95);
    recent.note(false, 0, 200_000);
    expect(recent.read(200_000)).toMatchObject({ requests: 1, latency_p50: 1, latency_p95: 1 });
  });

  it('has no latency without requests, and accepts requests that took days', () => {
    const recent = new RecentRequests(0);
    expect(recent.read(10)).toEqual({
      seconds: 1,
      requests: 0,
      errors: 0,
      latency_p50: null,
      latency_p95: null,
    });
    recent.note(false, 1e10, 20);
    expect(recent.read(20).latency_p95).toBe(2 ** 24);
  });
});
