import { measureLoad } from '../cpu-row.mjs';
import { chatInPromptDialect } from '../dialects/chat-in-prompt-dialect.mjs';
import { measureRate } from '../latency-row.mjs';
import { measureStreams } from '../paced-row.mjs';
import { readTreeMemory } from '../process-tree.mjs';
import { largeChat, smallChat, streamedChat } from '../workloads.mjs';

const micros = { unit: 'µs', digits: 0 };
const millis = { unit: 'ms', digits: 1 };
const CPU = { ...micros, name: 'CPU', node: (one) => one.node, all: treeOf };
const ADDED_P50 = { ...millis, name: 'added p50', isAdded: true, all: ({ p50Ms }) => p50Ms };
const ADDED_P99 = { ...millis, name: 'added p99', isAdded: true, all: ({ p99Ms }) => p99Ms };

/**
 * Rows that every gateway supports. `show` lists the figures of a round that have a line: `all` reads
 * it, `node` our part without PostgreSQL; `goal` is the allowed multiple of TensorZero's.
 */
export const PEER_ROWS = [
  loadRow('chat-1kb', smallChat, 'chat, 1 KB, 32 at once', { goal: 1 }),
  loadRow('chat-1kb-warm', smallChat, 'the same after 25 s of load', { goal: 1, isLong: true }),
  loadRow('chat-200kb', largeChat, 'chat, 200 KB prompt, 32 at once', { goal: 1 }),
  loadRow('stream-100', (name) => streamedChat(name, 100), 'stream of 100 chunks, 32 at once', {
    goal: 1,
  }),
  loadRow('alone', smallChat, 'chat, 1 KB, one caller at a time', {
    goal: 2,
    concurrency: 1,
    further: [ADDED_P50, ADDED_P99],
  }),
  {
    ...peerRow('rate-200', smallChat, '200 requests/s, 1 KB'),
    show: [ADDED_P50, ADDED_P99, CPU],
    warmUp: (driver, { latencyWarmUpMs }) =>
      driver.openLoop({ perSecond: 200, durationMs: latencyWarmUpMs }),
    measure: (driver, { latencyRoundMs }) =>
      measureRate(driver, { perSecond: 200, durationMs: latencyRoundMs }),
    connections: 250,
  },
  {
    ...peerRow(
      'paced',
      (name, { peerPacedMs }) => streamedChat(name, peerPacedMs / 50),
      '1,000 streams, a chunk every 50 ms',
    ),
    show: [
      {
        ...millis,
        name: 'CPU of a stream',
        node: (one) => one.perStream.node / 1_000,
        all: (one) => treeOf(one.perStream) / 1_000,
      },
      { ...millis, digits: 0, name: 'gap p99', all: ({ gapP99Ms }) => gapP99Ms },
      {
        unit: 'MB',
        digits: 0,
        name: 'memory at the peak',
        node: ({ memory }) => memory.peak.node / 1e6,
        all: ({ memory }) => memory.peakTree / 1e6,
      },
    ],
    warmUp: (driver) => driver.parallelStreams({ streams: 20, rampMs: 100 }),
    async measure(driver) {
      const measured = await measureStreams(driver, 1_000);
      await measured.memory.after;
      const { node, postgres, events } = measured;
      const perStream = { node: (node * events) / 1_000, postgres: (postgres * events) / 1_000 };
      return { ...measured, perStream };
    },
    connections: 1_000,
    rounds: 1,
  },
  {
    ...peerRow('rest', smallChat, 'memory after all of this'),
    show: [
      {
        unit: 'MB',
        digits: 0,
        name: '',
        node: ({ node }) => node / 1e6,
        all: (one) => treeOf(one) / 1e6,
      },
    ],
    warmUp: () => undefined,
    measure: (driver) => readTreeMemory(driver.target.server.pid),
    connections: 1,
    rounds: 1,
  },
];

function peerRow(id, makeWorkload, title) {
  const model = id === 'paced' ? 'paced-peers' : `peers-${id}`;
  return {
    id,
    title,
    models: [`bench/${model}`],
    makeWorkload: (settings) =>
      makeWorkload(model, settings).with({ dialect: chatInPromptDialect }),
  };
}

function loadRow(id, makeWorkload, title, { goal, isLong, concurrency = 32, further = [] }) {
  return {
    ...peerRow(id, makeWorkload, title),
    show: [{ ...CPU, goal }, ...further],
    warmUp: (driver, { peerWarmUpMs, peerLongWarmUpMs }) =>
      driver.closedLoop({ concurrency, durationMs: isLong ? peerLongWarmUpMs : peerWarmUpMs }),
    measure: (driver, { roundMs }) => measureLoad(driver, { concurrency, durationMs: roundMs }),
    connections: concurrency,
  };
}

function treeOf({ node, postgres }) {
  return node + postgres;
}
