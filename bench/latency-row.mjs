import { setTimeout as wait } from 'node:timers/promises';
import { Driver } from './driver.mjs';
import { readTreeCpu } from './process-tree.mjs';
import { median, percentile } from './statistics.mjs';

/** More than are ever under way, so that nothing queues in the driver. */
const CONNECTIONS = 250;
const SETTLE_MS = 100;

/** Latency at a fixed rate, measured from the scheduled moments; what counts is the difference. */
export async function runLatencyRow({ workload, perSecond, title, maxAddedMs }, bench) {
  const { settings, targets } = bench;
  const drivers = targets.map(
    (target) => new Driver(target, workload, { connections: CONNECTIONS }),
  );
  for (const driver of drivers) {
    await driver.target.beginRow();
    await driver.openLoop({ perSecond, durationMs: settings.latencyWarmUpMs });
  }
  const rounds = [];
  for (let round = 0; round < settings.rounds; round++) {
    const measured = {};
    for (const driver of drivers) {
      measured[driver.target.name] = await measure(driver, perSecond, settings.latencyRoundMs);
    }
    rounds.push(measured);
  }
  await bench.profileEach(drivers, (driver) =>
    driver.openLoop({ perSecond, durationMs: settings.profileMs }),
  );
  await bench.finishRow(workload, drivers);

  const line = (name, part, maxMs) => {
    const of = (target) => median(rounds.map((round) => round[target][part]));
    const added = rounds.map(({ yardstick, gateway }) => gateway[part] - yardstick[part]);
    const addedMs = median(added);
    return {
      work: `${title}: ${name}`,
      yardstick: `${of('yardstick').toFixed(2)} ms`,
      node: `${of('gateway').toFixed(2)} ms`,
      tree: '',
      result: `${plus(addedMs)} ms (${plus(Math.min(...added))} to ${plus(Math.max(...added))})`,
      treeResult: '',
      budget: `≤ +${maxMs} ms`,
      isMet: addedMs <= maxMs,
    };
  };
  const cpu = (target, read) => median(rounds.map((round) => read(round[target])));
  const yardstickCpu = cpu('yardstick', ({ node }) => node);
  const nodeCpu = cpu('gateway', ({ node }) => node);
  const treeCpu = cpu('gateway', ({ node, postgres }) => node + postgres);
  return {
    rounds,
    lines: [
      line('p50', 'p50Ms', maxAddedMs.p50),
      line('p99', 'p99Ms', maxAddedMs.p99),
      {
        work: `${title}: CPU per request`,
        yardstick: `${Math.round(yardstickCpu)} µs`,
        node: `${Math.round(nodeCpu)} µs`,
        tree: `${Math.round(treeCpu)} µs`,
        result: `${(nodeCpu / yardstickCpu).toFixed(2)} ×`,
        treeResult: `${(treeCpu / yardstickCpu).toFixed(2)} ×`,
      },
    ],
  };
}

async function measure(driver, perSecond, durationMs) {
  const { pid } = driver.target.server;
  const before = readTreeCpu(pid);
  const { requests, latenciesMs } = await driver.openLoop({ perSecond, durationMs });
  await wait(SETTLE_MS);
  const after = readTreeCpu(pid);
  return {
    requests,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    node: (after.node - before.node) / requests,
    postgres: (after.postgres - before.postgres) / requests,
  };
}

function plus(value) {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}
