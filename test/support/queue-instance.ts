import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Test } from '@nestjs/testing';
import { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';
import { MetricsModule } from '../../src/platform/metrics/metrics.module.js';
import { QueueModule } from '../../src/platform/queue/queue.module.js';
import { WorkQueue, type Topic } from '../../src/platform/queue/work-queue.js';

const PROGRAM = fileURLToPath(new URL('./queue-consumer-program.mjs', import.meta.url));

/** The location of a queue. */
export interface QueuePlace {
  redisUrl: string | undefined;
  databaseUrl: string;
}

export interface QueueInstance {
  queue: WorkQueue;
  metrics: GatewayMetrics;
  close(): Promise<void>;
}

/** Opens a queue like one instance of the service. */
export async function openQueue({ redisUrl, databaseUrl }: QueuePlace): Promise<QueueInstance> {
  const module = await Test.createTestingModule({
    imports: [MetricsModule, QueueModule.forRoot({ redisUrl }, databaseUrl)],
  }).compile();
  await module.init();
  const queue = module.get(WorkQueue, { strict: false });
  return {
    queue,
    metrics: module.get(GatewayMetrics, { strict: false }),
    async close() {
      await queue.stop(100);
      await module.close();
    },
  };
}

export interface QueueProcess {
  /** Returns the keys it has started to work on. */
  keys(): string[];
  kill(): Promise<void>;
}

/** Starts a process that takes a topic's wake-ups and never finishes its work on them. */
export async function spawnConsumer(place: QueuePlace, topic: Topic): Promise<QueueProcess> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify({ ...place, topic })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const lines = (): string[] => printed.split('\n').slice(0, -1);
  while (!lines().includes('ready')) {
    if (child.exitCode !== null) throw new Error('the consuming process ended');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    keys: () => lines().filter((line) => line !== 'ready'),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}
