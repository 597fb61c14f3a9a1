import { describe, expect, it } from '@jest/globals';
import { SpeedSketch } from './speed-sketch.js';

describe(SpeedSketch.name, () => {
  it('has no percentiles before the first figure', () => {
    const sketch = new SpeedSketch(0);
    expect(sketch.percentiles(0)).toBeUndefined();
    expect(sketch.samples(0)).toBe(0);
  });

  it.each([0.1, 1, 7, 99.5, 1_234, 87_654, 3_600_000])(
    'is accurate to 2.2 %% around %d',
    (value) => {
      const sketch = new SpeedSketch(0);
      sketch.add(value, 0);
      const { p50 = 0, p99 = 0 } = sketch.percentiles(0) ?? {};
      expect(Math.abs(p50 / value - 1)).toBeLessThan(0.025);
      expect(p99).toBe(p50);
    },
  );

  it.each([0, -1, 1e-9, 1e12, Infinity])('clamps %d to the nearest bucket', (value) => {
    const sketch = new SpeedSketch(0);
    sketch.add(value, 0);
    expect(sketch.percentiles(0)?.p50).toBeGreaterThan(0.05);
    expect(sketch.percentiles(0)?.p50).toBeLessThan(1e9);
  });

  it('finds percentiles of figures in any order', () => {
    const sketch = new SpeedSketch(0);
    for (let each = 0; each < 1_000; each++) sketch.add(((each * 617) % 1_000) + 1, 0);
    const { p50 = 0, p75 = 0, p90 = 0, p99 = 0 } = sketch.percentiles(0) ?? {};
    for (const [found, true_] of [
      [p50, 500],
      [p75, 750],
      [p90, 900],
      [p99, 990],
    ] as const) {
      expect(Math.abs(found / true_ - 1)).toBeLessThan(0.045);
    }
  });

  it('forgets a figure after five to ten minutes, used or not', () => {
    const sketch = new SpeedSketch(0);
    sketch.add(10, 1);
    expect(sketch.samples(299_999)).toBe(1);
    sketch.add(20, 300_000);
    expect(sketch.samples(599_999)).toBe(2);
    expect(sketch.samples(600_000)).toBe(1);
    expect(sketch.samples(1_300_000)).toBe(0);
    expect(sketch.percentiles(1_300_000)).toBeUndefined();
  });
});
