import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CoarseTimer, NOT_WATCHED, type Watched } from './coarse-timer.js';

function watched(
  inMs: number,
  onDeadline: () => void = jest.fn(),
): Watched & { onDeadline(): void } {
  return { deadlineMs: performance.now() + inMs, onDeadline, watchIndex: NOT_WATCHED };
}

describe(CoarseTimer.name, () => {
  let timer: CoarseTimer;

  beforeEach(() => {
    jest.useFakeTimers();
    timer = new CoarseTimer();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('fires a deadline once, within a tick', () => {
    const entry = watched(250);
    timer.watch(entry);
    jest.advanceTimersByTime(249);
    expect(entry.onDeadline).not.toHaveBeenCalled();
    jest.advanceTimersByTime(101);
    expect(entry.onDeadline).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(10_000);
    expect(entry.onDeadline).toHaveBeenCalledTimes(1);
  });

  it('follows a deadline that moves either way', () => {
    const later = watched(200);
    const sooner = watched(60_000);
    timer.watch(later);
    timer.watch(sooner);
    later.deadlineMs += 1_000;
    sooner.deadlineMs = performance.now() + 300;
    jest.advanceTimersByTime(400);
    expect(later.onDeadline).not.toHaveBeenCalled();
    expect(sooner.onDeadline).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(900);
    expect(later.onDeadline).toHaveBeenCalledTimes(1);
  });

  it('forgets unwatched entries', () => {
    const entry = watched(100);
    timer.watch(entry);
    timer.unwatch(entry);
    jest.advanceTimersByTime(1_000);
    expect(entry.onDeadline).not.toHaveBeenCalled();
  });

  it('runs only while something is watched', () => {
    expect(jest.getTimerCount()).toBe(0);
    timer.watch(watched(100));
    timer.watch(watched(100));
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(300);
    expect(jest.getTimerCount()).toBe(0);
    const again = watched(100);
    timer.watch(again);
    jest.advanceTimersByTime(300);
    expect(again.onDeadline).toHaveBeenCalledTimes(1);
  });

  it('allows a deadline to watch and unwatch others', () => {
    const victim = watched(100);
    const next = watched(300);
    const first = watched(100, () => {
      timer.unwatch(victim);
      timer.watch(next);
    });
    timer.watch(first);
    timer.watch(victim);
    jest.advanceTimersByTime(200);
    expect(victim.onDeadline).not.toHaveBeenCalled();
    jest.advanceTimersByTime(300);
    expect(next.onDeadline).toHaveBeenCalledTimes(1);
  });

  it('keeps other entries when some are removed in any order', () => {
    const entries = Array.from({ length: 20 }, () => watched(100));
    for (const entry of entries) timer.watch(entry);
    timer.watch(entries[3]!);
    const gone = [0, 7, 19, 18, 1].map((index) => entries[index]!);
    for (const entry of gone) timer.unwatch(entry);
    timer.unwatch(gone[0]!);
    timer.watch(gone[2]!);
    jest.advanceTimersByTime(200);
    for (const entry of entries) {
      const isGone = gone.includes(entry) && entry !== gone[2];
      expect(entry.onDeadline).toHaveBeenCalledTimes(isGone ? 0 : 1);
    }
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not keep the process alive', () => {
    jest.useRealTimers();
    const unref = jest.fn();
    const spy = jest
      .spyOn(globalThis, 'setInterval')
      .mockReturnValue({ unref } as unknown as NodeJS.Timeout);
    new CoarseTimer().watch(watched(100));
    expect(unref).toHaveBeenCalledTimes(1);
    spy.mockRestore();
  });
});
