import { runCpuRow } from './cpu-row.mjs';
import { runLatencyRow } from './latency-row.mjs';
import { runMemoryRow } from './memory-row.mjs';
import { runPacedRow } from './paced-row.mjs';
import { largeChat, largeUnicodeChat, smallChat, streamedChat } from './workloads.mjs';

const CONCURRENCY = 32;
const MEGABYTE = 1_000_000;

/**
 * Every row in the order in which it is run: memory first, while the targets are fresh. `models`
 * are what the gateway's catalogue needs for it. Rows with `isExtra` run only when they are named.
 */
export const ROWS = [
  {
    id: 'rest',
    models: [],
    run: (bench) =>
      runMemoryRow({ title: 'memory at rest, after the start', maxBytes: 200 * MEGABYTE }, bench),
  },
  {
    id: 'paced',
    models: ['paced-warm-up', 'paced-50ms'],
    run: (bench) =>
      runPacedRow(
        {
          warmUpWorkload: streamedChat('paced-warm-up', 20),
          makeWorkload: (pieces) => streamedChat('paced-50ms', pieces),
          streams: 1_000,
          title: '1,000 streams, a chunk every 50 ms',
          maxGapMs: 100,
          maxGrowthBytes: 150 * MEGABYTE,
        },
        bench,
      ),
  },
  cpuRow('chat-1kb', smallChat, 'chat, 1 KB, 32 at once', 3.0),
  cpuRow('chat-200kb', largeChat, 'chat, 200 KB prompt, 32 at once', 1.25),
  cpuRow('stream-100', (name) => streamedChat(name, 100), 'stream of 100 chunks, 32 at once', 1.5),
  {
    ...cpuRow(
      'chat-200kb-unicode',
      largeUnicodeChat,
      'chat, 200 KB prompt with typographic quotes, 32 at once',
      1.25,
    ),
    isExtra: true,
  },
  {
    id: 'rate-500',
    models: ['rate-500'],
    run: (bench) =>
      runLatencyRow(
        {
          workload: smallChat('rate-500'),
          perSecond: 500,
          title: '500 requests/s, 1 KB',
          maxAddedMs: { p50: 1, p99: 5 },
        },
        bench,
      ),
  },
];

function cpuRow(id, makeWorkload, title, maxRatio) {
  return {
    id,
    models: [id],
    run: (bench) =>
      runCpuRow({ workload: makeWorkload(id), concurrency: CONCURRENCY, title, maxRatio }, bench),
  };
}
