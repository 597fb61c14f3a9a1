import { beforeEach, describe, expect, it } from '@jest/globals';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ClusterFigures, type Figures } from './cluster-metrics.js';

async function figuresOf(count: number): Promise<Figures> {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['kind'];
  new Counter({ name: 'asked', help: 'h', labelNames, registers }).inc({ kind: 'a' }, count);
  new Gauge({ name: 'running', help: 'h', registers }).set(count);
  new Gauge({ name: 'away', help: 'h', registers, aggregator: 'max' }).set(count === 3 ? 1 : 0);
  new Gauge({ name: 'build', help: 'h', registers, aggregator: 'first' }).set(1);
  const seconds = new Histogram({ name: 'seconds', help: 'h', buckets: [1, 10], registers });
  for (let index = 0; index < count; index++) seconds.observe(5);
  return registry.getMetricsAsJSON();
}

describe(ClusterFigures.name, () => {
  let cluster: ClusterFigures;

  beforeEach(async () => {
    cluster = new ClusterFigures();
    cluster.note(1, await figuresOf(3));
    cluster.note(2, await figuresOf(4));
  });

  const expectSums = async (grown: number, running: number): Promise<void> => {
    const text = await cluster.text();
    expect(text).toContain(`asked{kind="a"} ${grown}\n`);
    expect(text).toContain(`seconds_bucket{le="1"} 0\n`);
    expect(text).toContain(`seconds_bucket{le="10"} ${grown}\n`);
    expect(text).toContain(`seconds_bucket{le="+Inf"} ${grown}\n`);
    expect(text).toContain(`seconds_sum ${5 * grown}\n`);
    expect(text).toContain(`seconds_count ${grown}\n`);
    expect(text).toContain(`running ${running}\n`);
    expect(text).toContain('build 1\n');
  };

  it('sums the latest figures of all workers', async () => {
    await expectSums(7, 7);
    cluster.note(1, await figuresOf(5));
    await expectSums(9, 9);
  });

  it('reports a maximum gauge that is set on any worker', async () => {
    expect(await cluster.text()).toContain('away 1\n');
    cluster.note(1, await figuresOf(4));
    expect(await cluster.text()).toContain('away 0\n');
  });

  it('keeps counts of exited workers but not their gauges', async () => {
    cluster.retire(1);
    await expectSums(7, 4);
    cluster.note(3, await figuresOf(2));
    cluster.retire(2);
    cluster.retire(2);
    await expectSums(9, 2);
    cluster.retire(9);
    await expectSums(9, 2);
  });

  it('counts a worker that exits while the sum is computed', async () => {
    const text = cluster.text();
    cluster.retire(1);
    expect(await text).toContain('asked{kind="a"} 7\n');
    await expectSums(7, 4);
  });

  it('is empty before the first worker', async () => {
    expect((await new ClusterFigures().text()).trim()).toBe('');
  });
});
