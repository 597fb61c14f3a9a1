import { describeLoad, measureLoad } from './cpu-row.mjs';
import { Driver } from './driver.mjs';

/**
 * Measures the first seconds of load on newly started processes, as users meet them after a deploy.
 * Every round has a new yardstick and a new gateway.
 */
export async function runColdRow({ workload, concurrency, title, bounds }, bench) {
  const { coldRounds, coldMs } = bench.settings;
  const rounds = [];
  for (let round = 0; round < coldRounds; round++) {
    const fresh = await bench.startFresh();
    const measured = {};
    const drivers = [];
    for (const target of fresh.targets) {
      await target.beginRow();
      const driver = new Driver(target, workload, { connections: concurrency });
      drivers.push(driver);
      measured[target.name] = await measureLoad(driver, { concurrency, durationMs: coldMs });
    }
    await bench.finishRow(workload, drivers);
    await fresh.stop();
    rounds.push(measured);
  }
  return describeLoad(`${title}, first ${coldMs / 1_000} s after a start`, rounds, bounds);
}
