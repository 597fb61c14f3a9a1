import { setTimeout as wait } from 'node:timers/promises';
import { Driver } from './driver.mjs';
import { readTreeCpu } from './process-tree.mjs';
import { median } from './statistics.mjs';

/** What a target still has to do when the last answer has left. */
const SETTLE_MS = 100;

/**
 * CPU per request with so many requests under way all the time. Yardstick and gateway take turns,
 * so that whatever else the machine does meets both; the ratio is that of neighbours.
 */
export async function runCpuRow({ workload, concurrency, title, maxRatio }, bench) {
  const { settings, targets } = bench;
  const drivers = targets.map(
    (target) => new Driver(target, workload, { connections: concurrency }),
  );
  for (const driver of drivers) {
    await driver.target.beginRow();
    await driver.closedLoop({
      concurrency,
      durationMs: settings.warmUpMs,
      maxRequests: settings.warmUpRequests,
    });
  }
  const rounds = [];
  for (let round = 0; round < settings.rounds; round++) {
    const measured = {};
    for (const driver of drivers) {
      measured[driver.target.name] = await measure(driver, concurrency, settings.roundMs);
    }
    rounds.push(measured);
  }
  await bench.profileEach(drivers, (driver) =>
    driver.closedLoop({ concurrency, durationMs: settings.profileMs }),
  );
  await bench.finishRow(workload, drivers);

  const ratios = rounds.map(({ yardstick, gateway }) => gateway.node / yardstick.node);
  const treeRatios = rounds.map(
    ({ yardstick, gateway }) => (gateway.node + gateway.postgres) / yardstick.node,
  );
  const of = (read) => median(rounds.map(read));
  const ratio = median(ratios);
  return {
    rounds,
    lines: [
      {
        work: title,
        yardstick: micros(of(({ yardstick }) => yardstick.node)),
        node: micros(of(({ gateway }) => gateway.node)),
        tree: micros(of(({ gateway }) => gateway.node + gateway.postgres)),
        result: `${times(ratio)} (${times(Math.min(...ratios))}–${times(Math.max(...ratios))})`,
        treeResult: times(median(treeRatios)),
        budget: `≤ ${times(maxRatio)}`,
        isMet: ratio <= maxRatio,
      },
    ],
  };
}

async function measure(driver, concurrency, durationMs) {
  const { pid } = driver.target.server;
  const before = readTreeCpu(pid);
  const startedMs = Date.now();
  const { requests } = await driver.closedLoop({ concurrency, durationMs });
  const seconds = (Date.now() - startedMs) / 1000;
  await wait(SETTLE_MS);
  const after = readTreeCpu(pid);
  return {
    requests,
    perSecond: requests / seconds,
    node: (after.node - before.node) / requests,
    postgres: (after.postgres - before.postgres) / requests,
  };
}

function micros(value) {
  return `${Math.round(value)} µs`;
}

function times(value) {
  return `${value.toFixed(2)} ×`;
}
