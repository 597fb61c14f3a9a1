import { runCpuRow } from './cpu-row.mjs';
import { runLatencyRow } from './latency-row.mjs';
import { runMemoryRow } from './memory-row.mjs';
import { runPacedRow } from './paced-row.mjs';
import {
  largeChat,
  largeUnicodeChat,
  smallChat,
  streamedChat,
  streamedMessage,
  streamedResponse,
  translatedChat,
} from './workloads.mjs';

const CONCURRENCY = 32;
const MEGABYTE = 1_000_000;

/**
 * Every row in the order in which it is run: memory first, while the targets are fresh. `models`
 * are the aliases that the gateway's catalogue needs for it. Rows with `isExtra` run only when they are named.
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
    models: ['bench/paced-warm-up', 'bench/paced-50ms'],
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
  cpuRow(
    'translated-100',
    (name) => translatedChat(name, 100),
    'stream of 100 chunks, translated from messages, 32 at once',
    1.9,
  ),
  cpuRow(
    'messages-100',
    (name) => streamedMessage(name, 100),
    'messages, stream of 100 chunks, 32 at once',
    1.5,
  ),
  cpuRow(
    'responses-100',
    (name) => streamedResponse(name, 100),
    'responses, stream of 100 chunks, stored, 32 at once',
    1.5,
  ),
  {
    ...cpuRow(
      'responses-100-unstored',
      (name) => streamedResponse(name, 100, { store: false }),
      'responses, stream of 100 chunks, not stored, 32 at once',
      1.5,
    ),
    isExtra: true,
  },
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
    models: ['bench/rate-500'],
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
  const workload = makeWorkload(id);
  return {
    id,
    models: [workload.alias],
    run: (bench) => runCpuRow({ workload, concurrency: CONCURRENCY, title, maxRatio }, bench),
  };
}
