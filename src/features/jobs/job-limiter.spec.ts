import { describe, expect, it } from '@jest/globals';
import { JobLanes } from './job-limiter.js';

describe(JobLanes.name, () => {
  it('lets in as many of a provider as it is wide, and each kind for itself', () => {
    const lanes = new JobLanes(2);
    const submissions = lanes.name('one', 'submit');
    const others = [lanes.name('one', 'poll'), lanes.name('two', 'submit')];
    expect(new Set([submissions, ...others]).size).toBe(3);
    expect(lanes.enter(submissions, 'tenant', 'a')).toBe(true);
    expect(lanes.enter(submissions, 'tenant', 'b')).toBe(true);
    expect(lanes.enter(submissions, 'tenant', 'c')).toBe(false);
    for (const other of others) expect(lanes.enter(other, 'tenant', 'd')).toBe(true);

    // The place goes on to who waits, and is free when nobody does.
    expect(lanes.leave(submissions)).toBe('c');
    expect(lanes.enter(submissions, 'tenant', 'd')).toBe(false);
    expect(lanes.leave(submissions)).toBe('d');
    expect(lanes.leave(submissions)).toBeUndefined();
    expect(lanes.enter(submissions, 'tenant', 'e')).toBe(true);
    expect(lanes.enter(submissions, 'tenant', 'f')).toBe(false);
  });

  it('lets a tenant with one job wait for one place, however many another has', () => {
    const lanes = new JobLanes(1);
    const lane = lanes.name('one', 'submit');
    for (let index = 0; index < 1_000; index++) lanes.enter(lane, 'greedy', `greedy-${index}`);
    expect(lanes.enter(lane, 'modest', 'modest-0')).toBe(false);
    expect(lanes.waiting(lane)).toBe(1_000);
    expect([lanes.leave(lane), lanes.leave(lane)]).toContain('modest-0');
  });

  it('lets a job wait once, however often it is woken', () => {
    const lanes = new JobLanes(1);
    const lane = lanes.name('one', 'submit');
    lanes.enter(lane, 'tenant', 'a');
    lanes.enter(lane, 'tenant', 'b');
    lanes.enter(lane, 'tenant', 'b');
    expect([lanes.leave(lane), lanes.leave(lane)]).toEqual(['b', undefined]);
    expect(lanes.waiting(lane)).toBe(0);
  });
});
