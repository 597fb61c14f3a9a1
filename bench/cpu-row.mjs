import { setTimeout as wait } from 'node:timers/promises';
import { Driver } from './driver.mjs';
import { addedLine, cpuLine, figuresOfCpu, figuresOfLatency } from './lines.mjs';
import { readTreeCpu } from './process-tree.mjs';
import { percentile } from './statistics.mjs';

/** Time for work that a target does after its last response. */
const SETTLE_MS = 100;

/**
 * Measures CPU per request, and latency if it has bounds, at a constant number of requests in flight.
 * Yardstick and gateway alternate, so that other load on the machine affects both; ratios compare
 * neighbouring rounds.
 *
 * @param row.bounds `ratio` of Node to the yardstick, `postgresMicros` per request, and `addedMs`
 *   with p50 and p99. Missing ones have no budget; without `addedMs` no latency is shown
 * @param row.isBrief true when an earlier row has probably warmed it up
 */
export async function runCpuRow({ workload, concurrency, title, bounds, isBrief }, bench) {
  const { settings, targets } = bench;
  const drivers = targets.map(
    (target) => new Driver(target, workload, { connections: concurrency }),
  );
  const warmUpMs = isBrief ? settings.briefWarmUpMs : settings.warmUpMs;
  for (const driver of drivers) {
    await driver.target.beginRow();
    await driver.closedLoop({
      concurrency,
      durationMs: warmUpMs,
      maxRequests: settings.warmUpRequests,
    });
  }
  const rounds = [];
  for (let round = 0; round < settings.rounds; round++) {
    const measured = {};
    for (const driver of drivers) {
      measured[driver.target.name] = await measureLoad(driver, {
        concurrency,
        durationMs: settings.roundMs,
      });
    }
    rounds.push(measured);
  }
  await bench.profileEach(drivers, (driver) =>
    driver.closedLoop({ concurrency, durationMs: settings.profileMs }),
  );
  await bench.finishRow(workload, drivers);
  return describeLoad(title, rounds, bounds);
}

/** The rounds of one kind of load in lines and figures: see `runCpuRow` for the bounds. */
export function describeLoad(title, rounds, { addedMs, ...bounds }) {
  const lines = [cpuLine(title, rounds, bounds)];
  const figures = figuresOfCpu(rounds);
  if (addedMs) {
    lines.push(addedLine(`${title}: p50`, rounds, 'p50Ms', addedMs.p50));
    lines.push(addedLine(`${title}: p99`, rounds, 'p99Ms', addedMs.p99));
    figures.push(...figuresOfLatency(rounds));
  }
  return { rounds, lines, figures };
}

/** One round of one driver. CPU is in microseconds per request. */
export async function measureLoad(driver, { concurrency, durationMs }) {
  const { pid } = driver.target.server;
  const before = readTreeCpu(pid);
  const startedMs = Date.now();
  const { requests, latenciesMs } = await driver.closedLoop({ concurrency, durationMs });
  const seconds = (Date.now() - startedMs) / 1000;
  await wait(SETTLE_MS);
  const after = readTreeCpu(pid);
  return {
    requests,
    perSecond: requests / seconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    node: (after.node - before.node) / requests,
    postgres: (after.postgres - before.postgres) / requests,
  };
}
