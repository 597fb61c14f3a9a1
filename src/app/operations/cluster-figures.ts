import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

/** A process's metrics as data, as they travel between processes. */
export type Figures = MetricObjectWithValues<MetricValue<string>>[];

/** What only ever grows. Of a process that is gone, nothing else means anything. */
const GROWING: ReadonlySet<unknown> = new Set(['counter', 'histogram']);

/**
 * The latest figures of each worker, and the sum of those that are gone: a counter that fell when a
 * worker is replaced would pass for a new start of the whole service, and lose what it had counted.
 */
export class ClusterFigures {
  private readonly latest = new Map<number, Figures>();
  private gone: Promise<Figures> = Promise.resolve([]);

  /** @param workerId never used again for another worker */
  note(workerId: number, figures: Figures): void {
    this.latest.set(workerId, figures);
  }

  /** The worker has ended; what it had counted by its latest figures stays. */
  retire(workerId: number): void {
    const figures = this.latest.get(workerId);
    if (!figures) return;
    this.latest.delete(workerId);
    const growing = figures.filter(({ type }) => GROWING.has(type));
    this.gone = this.gone.then((gone) =>
      AggregatorRegistry.aggregate([gone, growing]).getMetricsAsJSON(),
    );
  }

  /** The sum of all in Prometheus's text format; of a worker that is silent its former figures count. */
  async text(): Promise<string> {
    // Both at one moment: who is retired meanwhile is in one of them.
    const latest = [...this.latest.values()];
    const gone = await this.gone;
    return AggregatorRegistry.aggregate([...latest, gone]).metrics();
  }
}
