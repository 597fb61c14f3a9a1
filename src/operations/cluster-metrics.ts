import cluster from 'node:cluster';
import { Injectable } from '@nestjs/common';
import { AggregatorRegistry } from 'prom-client';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';

const ANSWER_LIMIT_MS = 5_000;

interface MetricsRequest {
  type: 'gateway:metrics';
}
interface MetricsAnswer {
  type: 'gateway:metrics';
  text: string;
}

/** Metrics of this process, or with several workers of all of them together. */
@Injectable()
export class ClusterMetrics {
  constructor(private readonly metrics: GatewayMetrics) {
    if (!cluster.isWorker) return;
    // Lets the primary process collect this worker's figures: the registry made here answers it.
    new AggregatorRegistry();
    AggregatorRegistry.setRegistries(metrics.registry);
  }

  async read(): Promise<{ contentType: string; text: string }> {
    const { contentType } = this.metrics.registry;
    const text = cluster.isWorker ? await askPrimary() : await this.metrics.registry.metrics();
    return { contentType, text };
  }
}

/** To be called in the primary process: answers its workers with the sum of all. */
export function serveClusterMetrics(): void {
  const aggregator = new AggregatorRegistry();
  cluster.on('message', (worker, message: Partial<MetricsRequest>) => {
    if (message.type !== 'gateway:metrics') return;
    aggregator.clusterMetrics().then(
      (text) => worker.send({ type: 'gateway:metrics', text } satisfies MetricsAnswer),
      () => worker.send({ type: 'gateway:metrics', text: '' } satisfies MetricsAnswer),
    );
  });
}

function askPrimary(): Promise<string> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(limit);
      process.off('message', onMessage);
    };
    const onMessage = (message: Partial<MetricsAnswer>): void => {
      if (message.type !== 'gateway:metrics') return;
      finish();
      resolve(message.text ?? '');
    };
    const limit = setTimeout(() => {
      finish();
      reject(new Error('the primary process gave no metrics'));
    }, ANSWER_LIMIT_MS);
    process.on('message', onMessage);
    process.send?.({ type: 'gateway:metrics' } satisfies MetricsRequest);
  });
}
