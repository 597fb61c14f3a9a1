import { runColdRow } from './cold-row.mjs';
import { runCpuRow } from './cpu-row.mjs';
import { runLatencyRow } from './latency-row.mjs';
import { runPacedRow } from './paced-row.mjs';
import { runRestRow } from './idle-row.mjs';
import { runStartRow } from './start-row.mjs';
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
 * All rows in order: memory first, while targets are fresh. `models` are the aliases that the gateway's
 * catalogue needs. Rows with `isExtra` run only when named.
 */
export const ROWS = [
  {
    id: 'rest',
    models: [],
    run: (bench) =>
      runRestRow({ title: 'at rest', maxBytes: 130 * MEGABYTE, maxCoreShare: 0.003 }, bench),
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
  cpuRow('chat-1kb', smallChat, 'chat, 1 KB, 32 at once', { ratio: 2, postgresMicros: 200 }),
  cpuRow('chat-200kb', largeChat, 'chat, 200 KB prompt, 32 at once', {
    ratio: 1,
    postgresMicros: 200,
  }),
  cpuRow('stream-100', (name) => streamedChat(name, 100), 'stream of 100 chunks, 32 at once', {
    ratio: 1.15,
    postgresMicros: 200,
  }),
  cpuRow(
    'translated-100',
    (name) => translatedChat(name, 100),
    'stream of 100 chunks, translated from messages, 32 at once',
    { ratio: 1.3, postgresMicros: 200 },
  ),
  cpuRow(
    'messages-100',
    (name) => streamedMessage(name, 100),
    'messages, stream of 100 chunks, 32 at once',
    { ratio: 1.15, postgresMicros: 200 },
  ),
  cpuRow(
    'responses-100',
    (name) => streamedResponse(name, 100),
    'responses, stream of 100 chunks, stored, 32 at once',
    { ratio: 1.15 },
  ),
  {
    ...cpuRow(
      'responses-100-unstored',
      (name) => streamedResponse(name, 100, { store: false }),
      'responses, stream of 100 chunks, not stored, 32 at once',
      { ratio: 1.15, postgresMicros: 200 },
    ),
    isExtra: true,
  },
  {
    ...cpuRow(
      'chat-200kb-unicode',
      largeUnicodeChat,
      'chat, 200 KB prompt with typographic quotes, 32 at once',
      { ratio: 1 },
    ),
    isExtra: true,
  },
  briefRow('alone', 1, 'chat, 1 KB, one caller at a time', {
    ratio: 3,
    postgresMicros: 600,
    addedMs: { p50: 0.8, p99: 3 },
  }),
  briefRow('eight', 8, 'chat, 1 KB, 8 at once', { addedMs: {} }),
  rateRow(200, { p50: 0.8, p99: 4 }),
  rateRow(500, { p50: 1.5, p99: 6 }),
  {
    id: 'cold',
    models: ['bench/cold'],
    run: (bench) =>
      runColdRow(
        {
          workload: smallChat('cold'),
          concurrency: CONCURRENCY,
          title: 'chat, 1 KB, 32 at once',
          bounds: { ratio: 3, addedMs: {} },
        },
        bench,
      ),
  },
  {
    id: 'start',
    models: [],
    run: (bench) =>
      runStartRow({ title: 'start until ready', maxMs: 1_500, maxEmbeddedMs: 3_000 }, bench),
  },
];

function cpuRow(id, makeWorkload, title, bounds) {
  const workload = makeWorkload(id);
  return {
    id,
    models: [workload.alias],
    run: (bench) => runCpuRow({ workload, concurrency: CONCURRENCY, title, bounds }, bench),
  };
}

/** The smallest request with another number of callers, once `chat-1kb` has warmed it up. */
function briefRow(id, concurrency, title, bounds) {
  const workload = smallChat(id);
  return {
    id,
    models: [workload.alias],
    run: (bench) => runCpuRow({ workload, concurrency, title, bounds, isBrief: true }, bench),
  };
}

function rateRow(perSecond, maxAddedMs) {
  const workload = smallChat(`rate-${perSecond}`);
  const title = `${perSecond} requests/s, 1 KB`;
  return {
    id: workload.model,
    models: [workload.alias],
    run: (bench) => runLatencyRow({ workload, perSecond, title, maxAddedMs }, bench),
  };
}
