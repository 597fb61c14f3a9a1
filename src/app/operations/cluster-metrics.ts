import cluster, { type Worker } from 'node:cluster';
import { Injectable } from '@nestjs/common';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

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

/** A worker that does not answer in this time, such as one that is only starting, is not waited for. */
const WORKER_LIMIT_MS = 1_000;
const PRIMARY_LIMIT_MS = 3_000;

/**
 * A scrape reaches one worker, which asks the primary process (`ask`), which asks every worker
 * (`collect`), adds up what they say (`figures`) and sends the text back (`answer`).
 */
type MetricsMessage =
  | { type: 'gateway:metrics:ask' }
  | { type: 'gateway:metrics:collect'; scrape: number }
  | { type: 'gateway:metrics:figures'; scrape: number; figures: Figures }
  | { type: 'gateway:metrics:answer'; text: string };

/** Nobody needs a key to ask, and a reading takes milliseconds: who asks more often than this gets the latest again. */
const READINGS_A_SECOND = 20;

interface Reading {
  contentType: string;
  text: string;
}

/** Metrics of this process, or with several workers of all of them together. */
@Injectable()
export class ClusterMetrics {
  private latest: Promise<Reading> | undefined;
  private readings = 0;
  private secondBeganMs = -Infinity;

  constructor(private readonly metrics: GatewayMetrics) {
    if (cluster.isWorker) {
      process.on('message', (message: MetricsMessage) => void this.tellFigures(message));
    }
  }

  /** A new reading, as long as there have not been twenty in this second. */
  read(): Promise<Reading> {
    const nowMs = performance.now();
    if (nowMs - this.secondBeganMs >= 1_000) {
      this.secondBeganMs = nowMs;
      this.readings = 0;
    }
    if (this.latest && this.readings >= READINGS_A_SECOND) return this.latest;
    this.readings++;
    return (this.latest = this.readAnew());
  }

  private async readAnew(): Promise<Reading> {
    const { contentType } = this.metrics.registry;
    const text = cluster.isWorker ? await askPrimary() : await this.metrics.registry.metrics();
    return { contentType, text };
  }

  private async tellFigures(message: MetricsMessage): Promise<void> {
    if (message.type !== 'gateway:metrics:collect') return;
    const figures = await this.metrics.registry.getMetricsAsJSON();
    send(process, { type: 'gateway:metrics:figures', scrape: message.scrape, figures });
  }
}

/** To be called in the primary process: answers its workers with the sum of all, the dead included. */
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
      reject(new Error('the primary process gave no metrics'));
    }, PRIMARY_LIMIT_MS);
    process.on('message', onMessage);
    send(process, { type: 'gateway:metrics:ask' });
  });
}

/** A process that is gone by now needs no message. */
function send(to: { send?: NodeJS.Process['send'] }, message: MetricsMessage): void {
  to.send?.(message, undefined, undefined, () => undefined);
}

/** A process's metrics as data, as they travel between processes. */
export type Figures = MetricObjectWithValues<MetricValue<string>>[];
