import { setTimeout as wait } from 'node:timers/promises';
import { Driver } from './driver.mjs';
import { addedLine, cpuLine, figuresOfCpu, figuresOfLatency } from './lines.mjs';
import { readTreeCpu } from './process-tree.mjs';
import { percentile } from './statistics.mjs';

/** More than are ever in flight, so that nothing queues in the driver. */
const CONNECTIONS = 250;
const SETTLE_MS = 100;

/** Measures latency at a fixed rate from the scheduled times; the difference to the yardstick counts. */
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
      measured[driver.target.name] = await measureRate(driver, {
        perSecond,
        durationMs: settings.latencyRoundMs,
      });
    }
    rounds.push(measured);
  }
  await bench.profileEach(drivers, (driver) =>
    driver.openLoop({ perSecond, durationMs: settings.profileMs }),
  );
  await bench.finishRow(workload, drivers);
  return {
    rounds,
    lines: [
      addedLine(`${title}: p50`, rounds, 'p50Ms', maxAddedMs.p50),
      addedLine(`${title}: p99`, rounds, 'p99Ms', maxAddedMs.p99),
      cpuLine(`${title}: CPU per request`, rounds),
    ],
    figures: [...figuresOfLatency(rounds), ...figuresOfCpu(rounds)],
  };
}

/** One round of one driver. CPU is in microseconds per request. */
export async function measureRate(driver, { perSecond, durationMs }) {
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
