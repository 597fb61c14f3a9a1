import { setInterval, clearInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { Driver } from './driver.mjs';
import { figuresOfCpu, megabytes } from './lines.mjs';
import { readTreeCpu, readTreeMemory } from './process-tree.mjs';
import { MillisecondHistogram } from './statistics.mjs';

const CHUNK_EVERY_MS = 50;
/** Spreads the starts, as with real callers. Afterwards all streams are in flight together. */
const RAMP_MS = 2_000;
const MEMORY_EVERY_MS = 500;
const MEMORY_AFTER_MS = 10_000;
const WARM_UP_STREAMS = 50;

/** Many slow streams at once: none may fail or stall, and memory must be released. */
export async function runPacedRow(
  { makeWorkload, warmUpWorkload, streams, title, maxGapMs, maxGrowthBytes },
  bench,
) {
  const { settings, targets } = bench;
  const measured = {};
  for (const target of targets) {
    const durationMs =
      target.name === 'gateway'
        ? settings.pacedMs
        : Math.min(settings.pacedMs, settings.yardstickPacedMs);
    await target.beginRow();
    const warmUp = new Driver(target, warmUpWorkload, { connections: WARM_UP_STREAMS });
    await warmUp.parallelStreams({ streams: WARM_UP_STREAMS, rampMs: 100 });
    await bench.finishRow(warmUpWorkload, [warmUp]);

    await target.beginRow();
    const workload = makeWorkload(Math.round(durationMs / CHUNK_EVERY_MS));
    const driver = new Driver(target, workload, { connections: streams });
    const found = await measureStreams(driver, streams);
    measured[target.name] = found;
    // The yardstick idles while the gateway works and must itself be left alone.
    if (target.name === 'gateway') found.memory.after = await found.memory.after;
    await bench.profileEach([driver], () => driver.parallelStreams({ streams, rampMs: RAMP_MS }));
    await bench.finishRow(workload, [driver]);
  }
  const { yardstick, gateway } = measured;
  yardstick.memory.after = await yardstick.memory.after;
  const growth = ({ memory }) => memory.peak.node - memory.before.node;
  return {
    rounds: [measured],
    lines: [
      {
        work: `${title}: failures`,
        yardstick: String(yardstick.failures),
        node: String(gateway.failures),
        budgets: [{ text: '0', isMet: gateway.failures === 0 }],
      },
      {
        work: `${title}: gap p99`,
        yardstick: `${yardstick.gapP99Ms} ms`,
        node: `${gateway.gapP99Ms} ms`,
        budgets: [{ text: `≤ ${maxGapMs} ms`, isMet: gateway.gapP99Ms <= maxGapMs }],
      },
      {
        work: `${title}: memory growth`,
        yardstick: megabytes(growth(yardstick)),
        node: megabytes(growth(gateway)),
        tree: megabytes(gateway.memory.peakTree - sum(gateway.memory.before)),
        budgets: [
          { text: `≤ ${megabytes(maxGrowthBytes)}`, isMet: growth(gateway) <= maxGrowthBytes },
        ],
      },
      {
        work: `${title}: memory before, peak, ${MEMORY_AFTER_MS / 1000} s after`,
        yardstick: memoryInWords(yardstick.memory, ({ node }) => node),
        node: memoryInWords(gateway.memory, ({ node }) => node),
        tree: memoryInWords(gateway.memory, sum),
      },
      {
        work: `${title}: CPU per chunk`,
        yardstick: `${yardstick.node.toFixed(1)} µs`,
        node: `${gateway.node.toFixed(1)} µs`,
        postgres: `${gateway.postgres.toFixed(1)} µs`,
        tree: `${(gateway.node + gateway.postgres).toFixed(1)} µs`,
        result: `${(gateway.node / yardstick.node).toFixed(2)} ×`,
        treeResult: `${((gateway.node + gateway.postgres) / yardstick.node).toFixed(2)} ×`,
      },
    ],
    figures: [
      { name: 'failures', unit: '', values: [gateway.failures], floor: 0.5 },
      { name: 'gap p99', unit: 'ms', values: [gateway.gapP99Ms], floor: 10 },
      { name: 'memory growth', unit: 'MB', values: [growth(gateway) / 1e6], floor: 15 },
      ...figuresOfCpu([measured]),
    ],
  };
}

/** Runs streams of one driver in parallel. CPU is in microseconds per event. */
export async function measureStreams(driver, streams, rampMs = RAMP_MS) {
  const { pid } = driver.target.server;
  const gaps = new MillisecondHistogram();
  const memory = { before: readTreeMemory(pid) };
  memory.peak = memory.before;
  memory.peakTree = sum(memory.before);
  const watch = setInterval(() => {
    const now = readTreeMemory(pid);
    if (now.node > memory.peak.node) memory.peak = now;
    memory.peakTree = Math.max(memory.peakTree, sum(now));
  }, MEMORY_EVERY_MS);
  const before = readTreeCpu(pid);
  const startedMs = Date.now();
  const { events } = await driver.parallelStreams({
    streams,
    rampMs,
    onGap: (ms) => gaps.add(ms),
  });
  const seconds = (Date.now() - startedMs) / 1000;
  await wait(100);
  const after = readTreeCpu(pid);
  clearInterval(watch);
  memory.after = wait(MEMORY_AFTER_MS).then(() => readTreeMemory(pid));
  return {
    failures: driver.failures,
    seconds,
    events,
    gapP99Ms: gaps.percentile(0.99),
    gapP999Ms: gaps.percentile(0.999),
    memory,
    node: (after.node - before.node) / events,
    postgres: (after.postgres - before.postgres) / events,
  };
}

function memoryInWords({ before, peak, after }, read) {
  return [before, peak, after].map((memory) => Math.round(read(memory) / 1e6)).join(', ') + ' MB';
}

function sum({ node, postgres }) {
  return node + postgres;
}
