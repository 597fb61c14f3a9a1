import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { DueWork } from '../database/due-work.js';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import { TOPICS, WorkQueue, type Consumer, type Topic } from '../queue/work-queue.js';
import type { Claim, WorkDepth, WorkHandler, WorkPolicy } from './work-handler.js';
import { WorkTopic } from './work-topic.js';

/**
 * Does all durable work of this process. Handlers own the rows, which are the truth; the engine claims them, renews the
 * claims, schedules the runs, and hands them over when the process stops. The queue only makes it fast.
 */
@Injectable()
export class WorkEngine implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly topics: WorkTopic[] = [];
  private readonly depthsOf = new Map<Topic, () => Promise<WorkDepth>>();

  constructor(
    private readonly queue: WorkQueue,
    private readonly dueWork: DueWork,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'queue'>,
    metrics: GatewayMetrics,
  ) {
    metrics.trackShared(
      'gateway_queue_depth',
      'Rows of background work, of all instances together.',
      ['topic', 'state'],
      async () => {
        const depths = Object.entries(await this.depths());
        return depths.flatMap(([topic, depth]) =>
          Object.entries(depth).map(([state, value]) => ({
            labels: { topic, state },
            value: Number(value),
          })),
        );
      },
    );
  }

  /** Call it in the handler's constructor, so that the work starts with the service. */
  register<Row extends Claim>(
    name: string,
    handler: WorkHandler<Row>,
    policy: WorkPolicy,
  ): WorkTopic<Row> {
    const topic = new WorkTopic(name, handler, policy, this.queue);
    this.topics.push(topic);
    if (policy.topic && handler.depth) this.depthsOf.set(policy.topic, () => handler.depth!());
    return topic;
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.queue.consume) return;
    const consumers: Partial<Record<Topic, Consumer>> = {};
    for (const topic of this.topics) {
      topic.start(this.dueWork);
      const { topic: name } = topic.policy;
      if (name) consumers[name] = (id) => topic.offer(id);
    }
    await this.queue.consume(consumers);
  }

  /** Takes no more wake-ups and gives running work up to the limit to end. */
  async drain(limitMs: number): Promise<void> {
    await this.queue.stop();
    const drained = this.topics.filter(({ policy }) => policy.stops === 'with-drain');
    await Promise.all(drained.map((topic) => topic.drain(limitMs)));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.topics.map((topic) => topic.stop()));
  }

  /** @throws Error when the database does not answer */
  async depths(): Promise<Partial<Record<Topic, WorkDepth>>> {
    const depths: Partial<Record<Topic, WorkDepth>> = {};
    for (const topic of TOPICS) {
      const read = this.depthsOf.get(topic);
      if (read) depths[topic] = await read();
    }
    return depths;
  }
}
