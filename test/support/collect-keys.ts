import { setTimeout as wait } from 'node:timers/promises';
import type { Topic, WorkQueue } from '../../src/platform/queue/work-queue.js';

/** Consumes a topic; the keys appear in the list in their order. */
export async function collectKeys(
  queue: WorkQueue,
  topic: Topic,
  { concurrency = 1, workMs = 0 } = {},
): Promise<string[]> {
  const delivered: string[] = [];
  await queue.consume(
    topic,
    async (key) => {
      delivered.push(key);
      if (workMs > 0) await wait(workMs);
    },
    { concurrency },
  );
  return delivered;
}
