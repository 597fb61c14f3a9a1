import type { Topic, WorkQueue } from '../../src/platform/queue/work-queue.js';

/** Consumes topics; the keys appear in their lists in order. */
export async function collectKeys<Name extends Topic>(
  queue: WorkQueue,
  ...topics: Name[]
): Promise<Record<Name, string[]>> {
  const delivered = Object.fromEntries(topics.map((topic) => [topic, []])) as unknown as Record<
    Name,
    string[]
  >;
  const consumer = (topic: Name) => (key: string) => {
    delivered[topic].push(key);
    return Promise.resolve();
  };
  await queue.consume(Object.fromEntries(topics.map((topic) => [topic, consumer(topic)])));
  return delivered;
}
