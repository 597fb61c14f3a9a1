import { Injectable } from '@nestjs/common';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import { TOPICS, WorkQueue } from './work-queue.js';

/** Shows the queue's depth; while the queue is away there is none to show. */
@Injectable()
export class QueueMetrics {
  constructor(metrics: GatewayMetrics, queue: WorkQueue) {
    metrics.trackShared(
      'gateway_queue_depth',
      'Wake-ups of workers, of all instances together.',
      ['topic', 'state'],
      async () => {
        const depths = await queue.depths();
        return TOPICS.flatMap((topic) => {
          const states = Object.entries(depths[topic]) as [string, number][];
          return states.map(([state, value]) => ({ labels: { topic, state }, value }));
        });
      },
    );
  }
}
