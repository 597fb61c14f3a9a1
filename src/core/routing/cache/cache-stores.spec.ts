import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InProcessCacheStore } from './cache-stores.js';

const KILOBYTE = Buffer.alloc(1_000, 'x');

describe(InProcessCacheStore.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
    // What was made at the very beginning of a clock has no age for lru-cache.
    jest.advanceTimersByTime(1);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('gives back what it was given until its time is over', () => {
    const store = new InProcessCacheStore(10_000);
    store.set('a', KILOBYTE, 2);
    jest.advanceTimersByTime(1_999);
    expect(store.get('a')).toEqual(KILOBYTE);
    jest.advanceTimersByTime(2);
    expect(store.get('a')).toBeUndefined();
    expect(store.bytes).toBe(0);
  });

  it('makes room by dropping what was asked for longest ago', () => {
    const store = new InProcessCacheStore(5_500);
    for (const key of ['a', 'b', 'c']) store.set(key, KILOBYTE, 60);
    store.get('a');
    store.set('d', KILOBYTE, 60);
    expect(['a', 'b', 'c', 'd'].map((key) => store.get(key) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(store.bytes).toBeLessThanOrEqual(5_500);
  });

  it('never holds more than it may, overhead of small entries included', () => {
    const store = new InProcessCacheStore(100_000);
    for (let index = 0; index < 10_000; index++) store.set(`key ${index}`, Buffer.alloc(1), 60);
    expect(store.bytes).toBeLessThanOrEqual(100_000);
    expect(store.get('key 9999')).toEqual(Buffer.alloc(1));
    expect(store.get('key 0')).toBeUndefined();
  });

  it('counts a key once however often it is set, and a value that is too large not at all', () => {
    const store = new InProcessCacheStore(2_000);
    for (let times = 0; times < 5; times++) store.set('a', KILOBYTE, 60);
    expect(store.bytes).toBeLessThan(2_000);
    store.set('a', Buffer.alloc(3_000), 60);
    expect(store.get('a')).toBeUndefined();
    expect(store.bytes).toBe(0);
  });

  it('holds on to no more memory than a value is long', () => {
    const store = new InProcessCacheStore(10_000);
    store.set('a', Buffer.from('a short answer'), 60);
    expect(store.get('a')?.toString()).toBe('a short answer');
    expect(store.get('a')?.buffer.byteLength).toBe('a short answer'.length);
  });

  it('keeps nothing when it has no room at all', () => {
    const store = new InProcessCacheStore(0);
    store.set('a', Buffer.alloc(0), 60);
    expect(store.get('a')).toBeUndefined();
  });
});
