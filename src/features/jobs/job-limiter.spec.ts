import { describe, expect, it } from '@jest/globals';
import { JobLimiter } from './job-limiter.js';

describe(JobLimiter.name, () => {
  it('limits each provider and kind of work separately', () => {
    const limiter = new JobLimiter(2);
    const submissions = limiter.key('one', 'submit');
    const others = [limiter.key('one', 'poll'), limiter.key('two', 'submit')];
    expect(new Set([submissions, ...others]).size).toBe(3);
    expect(limiter.acquire(submissions, 'tenant', 'a')).toBe(true);
    expect(limiter.acquire(submissions, 'tenant', 'b')).toBe(true);
    expect(limiter.acquire(submissions, 'tenant', 'c')).toBe(false);
    for (const other of others) expect(limiter.acquire(other, 'tenant', 'd')).toBe(true);

    // The slot passes to the next in the queue, and is free when the queue is empty.
    expect(limiter.release(submissions)).toBe('c');
    expect(limiter.acquire(submissions, 'tenant', 'd')).toBe(false);
    expect(limiter.release(submissions)).toBe('d');
    expect(limiter.release(submissions)).toBeUndefined();
    expect(limiter.acquire(submissions, 'tenant', 'e')).toBe(true);
    expect(limiter.acquire(submissions, 'tenant', 'f')).toBe(false);
  });

  it("schedules a tenant's only job after one slot, whatever others have queued", () => {
    const limiter = new JobLimiter(1);
    const key = limiter.key('one', 'submit');
    for (let index = 0; index < 1_000; index++) limiter.acquire(key, 'greedy', `greedy-${index}`);
    expect(limiter.acquire(key, 'modest', 'modest-0')).toBe(false);
    expect(limiter.waiting(key)).toBe(1_000);
    expect([limiter.release(key), limiter.release(key)]).toContain('modest-0');
  });

  it('queues a job once, however often it is woken', () => {
    const limiter = new JobLimiter(1);
    const key = limiter.key('one', 'submit');
    limiter.acquire(key, 'tenant', 'a');
    limiter.acquire(key, 'tenant', 'b');
    limiter.acquire(key, 'tenant', 'b');
    expect([limiter.release(key), limiter.release(key)]).toEqual(['b', undefined]);
    expect(limiter.waiting(key)).toBe(0);
  });
});
