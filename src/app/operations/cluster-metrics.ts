import cluster, { type Worker } from 'node:cluster';
import { Injectable } from '@nestjs/common';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

/** Metric types that only grow. Of an exited process only these still count. */
const GROWING: ReadonlySet<unknown> = new Set(['counter', 'histogram']);

/**
 * Holds the latest figures of each worker and the sum of exited ones. Without that sum, counters
 * would drop when a worker is replaced, which looks like a restart of the whole service.
 */
export class ClusterFigures {
  private readonly latest = new Map<number, Figures>();
  private gone: Promise<Figures> = Promise.resolve([]);

  /** @param workerId never reused for another worker */
  note(workerId: number, figures: Figures): void {
    this.latest.set(workerId, figures);
  }

  /** Records that the worker has exited. Its latest counts are kept. */
  retire(workerId: number): void {
    const figures = this.latest.get(workerId);
    if (!figures) return;
    this.latest.delete(workerId);
    const growing = figures.filter(({ type }) => GROWING.has(type));
    this.gone = this.gone.then((gone) =>
      AggregatorRegistry.aggregate([gone, growing]).getMetricsAsJSON(),
    );
  }

  /** Returns the sum in Prometheus's text format. An unresponsive worker counts with its last figures. */
  async text(): Promise<string> {
    // Read both at once, so that a worker retired meanwhile is in exactly one of them.
    const latest = [...this.latest.values()];
    const gone = await this.gone;
    return AggregatorRegistry.aggregate([...latest, gone]).metrics();
  }
}

/** Limit for a worker's reply. One that is still starting may miss it. */
const WORKER_LIMIT_MS = 1_000;
const PRIMARY_LIMIT_MS = 3_000;

/**
 * A scrape reaches one worker. It asks the primary process (`ask`), which asks every worker
 * (`collect`), sums their replies (`figures`) and returns the text (`answer`).
 */
type MetricsMessage =
  | { type: 'gateway:metrics:ask' }
  | { type: 'gateway:metrics:collect'; scrape: number }
  | { type: 'gateway:metrics:figures'; scrape: number; figures: Figures }
  | { type: 'gateway:metrics:answer'; text: string };

/** A reading takes milliseconds and needs no key, so more frequent scrapes get the latest reading. */
const READINGS_A_SECOND = 20;

interface Reading {
  contentType: string;
  text: string;
}

/** Metrics of this process, or of all workers together. */
@Injectable()
export class ClusterMetrics {
  private latest: Promise<Reading> | undefined;
  private readings = 0;
  private secondBeganMs = -Infinity;

  constructor(private readonly metrics: GatewayMetrics) {
    if (cluster.isWorker) {
      process.on('message', (message: MetricsMessage) => void this.sendFigures(message));
    }
  }

  /** Takes a new reading, unless there were 20 within this second. */
  read(): Promise<Reading> {
    const nowMs = performance.now();
    if (nowMs - this.secondBeganMs >= 1_000) {
      this.secondBeganMs = nowMs;
      this.readings = 0;
    }
    if (this.latest && this.readings >= READINGS_A_SECOND) return this.latest;
    this.readings++;
    return (this.latest = this.readNow());
  }

  private async readNow(): Promise<Reading> {
    const { contentType } = this.metrics.registry;
    const text = cluster.isWorker ? await askPrimary() : await this.metrics.registry.metrics();
    return { contentType, text };
  }

  private async sendFigures(message: MetricsMessage): Promise<void> {
    if (message.type !== 'gateway:metrics:collect') return;
    const figures = await this.metrics.registry.getMetricsAsJSON();
    send(process, { type: 'gateway:metrics:figures', scrape: message.scrape, figures });
  }
}

/** Answers workers with the sum of all, including exited ones. Call in the primary process. */
export function serveClusterMetrics(): void {
  let scrapes = 0;
  const known = new ClusterFigures();
  cluster.on('exit', ({ id }) => known.retire(id));
  cluster.on('message', (asking, message: MetricsMessage) => {
    if (message.type !== 'gateway:metrics:ask') return;
    void collect(++scrapes, known)
      .then(() => known.text())
      .then((text) => send(asking, { type: 'gateway:metrics:answer', text }));
  });
}

async function collect(scrape: number, known: ClusterFigures): Promise<void> {
  const asked = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected());
  let answers = 0;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(limit);
      cluster.off('message', onMessage);
      resolve();
    };
    const onMessage = ({ id }: Worker, message: MetricsMessage): void => {
      if (message.type !== 'gateway:metrics:figures' || message.scrape !== scrape) return;
      known.note(id, message.figures);
      if (++answers === asked.length) finish();
    };
    const limit = setTimeout(finish, WORKER_LIMIT_MS);
    cluster.on('message', onMessage);
    for (const worker of asked) {
      if (worker) send(worker, { type: 'gateway:metrics:collect', scrape });
    }
  });
}

function askPrimary(): Promise<string> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(limit);
      process.off('message', onMessage);
    };
    const onMessage = (message: MetricsMessage): void => {
      if (message.type !== 'gateway:metrics:answer') return;
      finish();
      resolve(message.text);
    };
    const limit = setTimeout(() => {
      finish();
      reject(new Error('the primary process sent no metrics'));
    }, PRIMARY_LIMIT_MS);
    process.on('message', onMessage);
    send(process, { type: 'gateway:metrics:ask' });
  });
}

/** Ignores processes that have exited. */
function send(to: { send?: NodeJS.Process['send'] }, message: MetricsMessage): void {
  to.send?.(message, undefined, undefined, () => undefined);
}

/** Metrics of a process as data, as sent between processes. */
export type Figures = MetricObjectWithValues<MetricValue<string>>[];
