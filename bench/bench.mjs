import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { recordCpuProfile } from './cpu-profile.mjs';

/** State shared by the rows: targets, settings, and faults so far. */
export class Bench {
  /** Descriptions of wrong responses and invoices; one is enough for the run to fail. */
  faults = [];
  rowId = '';
  #profileFolder;

  /**
   * @param targets the yardstick, then the gateway
   * @param startFresh starts both again and resolves to `targets` and `stop`
   * @param measureStarts starts gateways: see `measureStarts` of the gateway target
   */
  constructor({ targets, settings, profileFolder, startFresh, measureStarts }) {
    this.targets = targets;
    this.settings = settings;
    this.startFresh = startFresh;
    this.measureStarts = measureStarts;
    this.#profileFolder = profileFolder;
    if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true });
  }

  /** If profiles are wanted, repeats the work for each driver with its target's profiler on. */
  async profileEach(drivers, work) {
    if (this.#profileFolder === undefined) return;
    for (const driver of drivers) {
      const file = join(this.#profileFolder, `${this.rowId}-${driver.target.name}.cpuprofile`);
      await recordCpuProfile(driver.target.server, file, () => work(driver));
    }
  }

  /** Checks responses and invoices of a finished row. */
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
