import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { recordCpuProfile } from './cpu-profile.mjs';

/** What the rows share: targets, settings, and what has turned out wrong so far. */
export class Bench {
  /** Wrong answers and wrong invoices in words; one is enough for the run to fail. */
  faults = [];
  rowId = '';
  #profileFolder;

  /**
   * @param targets the yardstick and then the gateway
   * @param startFresh starts both anew, and resolves to `targets` and `stop`
   * @param measureStarts starts gateways: see `measureStarts` of the gateway's target
   */
  constructor({ targets, settings, profileFolder, startFresh, measureStarts }) {
    this.targets = targets;
    this.settings = settings;
    this.startFresh = startFresh;
    this.measureStarts = measureStarts;
    this.#profileFolder = profileFolder;
    if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true });
  }

  /** Does the work once more for each driver with its target's profiler on, if profiles are wanted. */
  async profileEach(drivers, work) {
    if (this.#profileFolder === undefined) return;
    for (const driver of drivers) {
      const file = join(this.#profileFolder, `${this.rowId}-${driver.target.name}.cpuprofile`);
      await recordCpuProfile(driver.target.server, file, () => work(driver));
    }
  }

  /** Compares answers and invoices of a row that has ended. */
  async finishRow(workload, drivers) {
    for (const driver of drivers) {
      const { target, failures, faults } = driver;
      if (failures > 0) {
        this.faults.push(`${workload.alias}: ${failures} answers were wrong`, ...faults);
      }
      this.faults.push(...(await target.findBillingFaults(workload.alias)));
      await driver.close();
    }
  }
}
