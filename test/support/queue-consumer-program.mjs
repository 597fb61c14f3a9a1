/**
 * A process that takes the wake-ups of a topic, prints each key and never finishes its work, so that a
 * test can kill it. Its argument is JSON: { redisUrl?, databaseUrl, topic }.
 */
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MetricsModule } from '../../dist/src/platform/metrics/metrics.module.js';
import { QueueModule } from '../../dist/src/platform/queue/queue.module.js';
import { WorkQueue } from '../../dist/src/platform/queue/work-queue.js';

class ConsumerModule {}

const { redisUrl, databaseUrl, topic } = JSON.parse(process.argv[2] ?? '{}');
Module({ imports: [MetricsModule, QueueModule.forRoot({ redisUrl }, databaseUrl)] })(
  ConsumerModule,
);
const context = await NestFactory.createApplicationContext(ConsumerModule, { logger: false });
await context.get(WorkQueue, { strict: false }).consume(
  topic,
  (key) => {
    process.stdout.write(`${key}\n`);
    return new Promise(() => undefined);
  },
  { concurrency: 4 },
);
process.stdout.write('ready\n');
