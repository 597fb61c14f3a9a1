import { describe, expect, it } from '@jest/globals';
import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import { toMetricData } from './prometheus-metrics.js';

describe(toMetricData.name, () => {
  it('converts counters, gauges and histograms, and skips summaries', async () => {
    const registers = [new Registry()];
    const help = 'h';
    new Counter({ name: 'c', help, labelNames: ['l'], registers }).inc({ l: 'x' }, 3);
    new Gauge({ name: 'g', help, registers }).set(1.5);
    const histogram = new Histogram({ name: 'h', help, buckets: [1, 5], registers });
    for (const value of [0.5, 2, 3, 10]) histogram.observe(value);
    new Summary({ name: 's', help, registers }).observe(1);

    const metrics = toMetricData(await registers[0]!.getMetricsAsJSON(), {
      startTime: [1, 0],
      endTime: [2, 0],
    });
    expect(metrics.map(({ descriptor }) => descriptor.name)).toEqual(['c', 'g', 'h']);
    expect(metrics[0]).toMatchObject({
      isMonotonic: true,
      dataPoints: [{ attributes: { l: 'x' }, value: 3, startTime: [1, 0], endTime: [2, 0] }],
    });
    expect(metrics[1]).toMatchObject({ dataPoints: [{ value: 1.5 }] });
    expect(metrics[2]!.dataPoints[0]!.value).toEqual({
      buckets: { boundaries: [1, 5], counts: [1, 2, 1] },
      sum: 15.5,
      count: 4,
    });
  });
});
