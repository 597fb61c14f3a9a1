import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InProcessCacheStore } from './in-process-cache-store.js';

const KILOBYTE = Buffer.alloc(1_000, 'x');

describe(InProcessCacheStore.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
    // lru-cache gives no age to entries made at clock zero.
    jest.advanceTimersByTime(1);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('returns a value until its TTL expires', () => {
    const store = withRoomFor(10_000);
    store.set('tenant', 'a', KILOBYTE, 2);
    jest.advanceTimersByTime(1_999);
    expect(store.get('a')).toEqual(KILOBYTE);
    jest.advanceTimersByTime(2);
    expect(store.get('a')).toBeUndefined();
    expect(store.bytesInUse()).toBe(0);
  });

  it('evicts the least recently used entry', () => {
    const store = withRoomFor(5_500);
    for (const key of ['a', 'b', 'c']) store.set('tenant', key, KILOBYTE, 60);
    store.get('a');
    store.set('tenant', 'd', KILOBYTE, 60);
    expect(['a', 'b', 'c', 'd'].map((key) => store.get(key) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(store.bytesInUse()).toBeLessThanOrEqual(5_500);
  });

  it('stays within its limit, including the overhead of small entries', () => {
    const store = withRoomFor(100_000);
    for (let index = 0; index < 10_000; index++)
      store.set('tenant', `key ${index}`, Buffer.alloc(1), 60);
    expect(store.bytesInUse()).toBeLessThanOrEqual(100_000);
    expect(store.get('key 9999')).toEqual(Buffer.alloc(1));
    expect(store.get('key 0')).toBeUndefined();
  });

  it('counts a key once however often it is set, and rejects oversized values', () => {
    const store = withRoomFor(2_000);
    for (let times = 0; times < 5; times++) store.set('tenant', 'a', KILOBYTE, 60);
    expect(store.bytesInUse()).toBeLessThan(2_000);
    store.set('tenant', 'a', Buffer.alloc(3_000), 60);
    expect(store.get('a')).toBeUndefined();
    expect(store.bytesInUse()).toBe(0);
  });

  it('uses only the memory that the value needs', () => {
    const store = withRoomFor(10_000);
    store.set('tenant', 'a', Buffer.from('a short answer'), 60);
    expect(store.get('a')?.toString()).toBe('a short answer');
    expect(store.get('a')?.buffer.byteLength).toBe('a short answer'.length);
  });

  it('limits each tenant, evicting its oldest entries and no other tenant’s', () => {
    const store = new InProcessCacheStore({ maxBytes: 100_000, maxBytesPerTenant: 3_500 });
    store.set('other', 'theirs', KILOBYTE, 60);
    for (const key of ['a', 'b', 'c']) store.set('tenant', key, KILOBYTE, 60);
    const kept = ['a', 'b', 'c', 'theirs'].map((key) => store.get(key) !== undefined);
    expect(kept).toEqual([false, true, true, true]);
    // Larger than the tenant's whole share.
    store.set('tenant', 'd', Buffer.alloc(3_000), 60);
    expect(store.get('d')).toBeUndefined();
    expect(store.get('c')).toBeDefined();
    // Expired entries free their space even if never read.
    store.set('tenant', 'c', KILOBYTE, 1);
    jest.advanceTimersByTime(1_001);
    store.set('tenant', 'e', KILOBYTE, 60);
    expect(['b', 'e'].map((key) => store.get(key) !== undefined)).toEqual([true, true]);
    expect(store.bytesInUse()).toBe(3 * 1_700);
  });

  it('stores nothing when the limit is 0', () => {
    const store = withRoomFor(0);
    store.set('tenant', 'a', Buffer.alloc(0), 60);
    expect(store.get('a')).toBeUndefined();
  });
});

function withRoomFor(bytes: number): InProcessCacheStore {
  return new InProcessCacheStore({ maxBytes: bytes, maxBytesPerTenant: bytes });
}
