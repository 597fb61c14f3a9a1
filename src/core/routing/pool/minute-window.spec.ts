import { describe, expect, it } from '@jest/globals';
import { MinuteWindow } from './minute-window.js';

describe(MinuteWindow.name, () => {
  it('counts for at least a minute and at most a second longer', () => {
    const window = new MinuteWindow();
    window.add(3, 10_900);
    expect(window.total(70_900)).toBe(3);
    expect(window.total(70_999)).toBe(3);
    expect(window.total(71_900)).toBe(0);
  });

  it('returns the exact time until an amount fits', () => {
    const window = new MinuteWindow();
    window.add(4, 1_000);
    window.add(4, 31_000);
    expect(window.waitMs(2, 10, 31_000)).toBe(0);
    const waitMs = window.waitMs(5, 10, 31_000);
    expect(waitMs).toBe(31_000);
    expect(window.waitMs(5, 10, 31_000 + waitMs - 1)).toBeGreaterThan(0);
    expect(window.waitMs(5, 10, 31_000 + waitMs)).toBe(0);
    expect(window.waitMs(7, 10, 31_000)).toBe(61_000);
  });

  it('accepts an amount above the limit when the window is empty', () => {
    const window = new MinuteWindow();
    expect(window.waitMs(50, 10, 0)).toBe(0);
    window.add(50, 0);
    expect(window.waitMs(1, 10, 100)).toBe(60_900);
  });

  it('corrects counts that it still remembers', () => {
    const window = new MinuteWindow();
    window.add(10, 5_000);
    window.add(-4, 5_000, 20_000);
    expect(window.total(20_000)).toBe(6);
    window.add(-6, 5_000, 90_000);
    expect(window.total(90_000)).toBe(0);
  });

  it('forgets everything after a long silence', () => {
    const window = new MinuteWindow();
    window.add(10, 5_000);
    window.add(1, 500_000);
    expect(window.total(500_000)).toBe(1);
  });
});
