import { DueWork } from '../../src/platform/database/due-work.js';
import { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';
import type { WorkQueue } from '../../src/platform/queue/work-queue.js';
import { WorkEngine } from '../../src/platform/durable-work/work-engine.js';
import type { Claim, WorkHandler } from '../../src/platform/durable-work/work-handler.js';
import type { WorkTopic } from '../../src/platform/durable-work/work-topic.js';
import type { TestDatabase } from './test-database.js';

/** An engine as one process has it, whose sweeps run when a test calls them. */
export function openEngine(
  { database }: TestDatabase,
  queue: Pick<WorkQueue, 'wake'> = { wake: () => Promise.resolve() },
): WorkEngine {
  const config = { queue: { consume: true } };
  return new WorkEngine(queue as WorkQueue, new DueWork(database), config, new GatewayMetrics());
}

/** Runs a row if it is due. Resolves when it has run if it could start at once, else immediately. */
export async function runRow<Row extends Claim>(
  handler: WorkHandler<Row> & { readonly topic: WorkTopic<Row> },
  id: string,
): Promise<void> {
  const place = await handler.place(id);
  if (place) await handler.topic.add(id, place);
}
