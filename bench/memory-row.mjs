import { setTimeout as wait } from 'node:timers/promises';
import { readTreeMemory } from './process-tree.mjs';

const REST_MS = 2_000;

/** Memory of freshly started targets that have served nothing yet. To be run first. */
export async function runMemoryRow({ title, maxBytes }, bench) {
  await wait(REST_MS);
  const measured = {};
  for (const { name, server } of bench.targets) measured[name] = readTreeMemory(server.pid);
  const { yardstick, gateway } = measured;
  return {
    rounds: [measured],
    lines: [
      {
        work: title,
        yardstick: megabytes(yardstick.node),
        node: megabytes(gateway.node),
        tree: megabytes(gateway.node + gateway.postgres),
        budget: `≤ ${megabytes(maxBytes)}`,
        isMet: gateway.node <= maxBytes,
      },
    ],
  };
}

export function megabytes(bytes) {
  return `${Math.round(bytes / 1e6)} MB`;
}
