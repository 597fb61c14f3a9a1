import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Driver } from '../driver.mjs';
import { startServer } from '../server-process.mjs';
import { smallChat, streamedChat } from '../workloads.mjs';
import { startGateway, startService } from './gateway-process.mjs';
import { none } from './table.mjs';

const MOCK_UPSTREAM = fileURLToPath(new URL('../mock-upstream.mjs', import.meta.url));
const TROUBLED_VENDOR = fileURLToPath(new URL('./faulty-vendor.mjs', import.meta.url));

const WARM_UP_CHATS = 300;
const WARM_UP_STREAMS = 50;
const WARM_UP_CONCURRENCY = 8;
const WARM_UP_LIMIT_MS = 60_000;
const FAULTS_TOLD = 5;

/** State shared by the scenarios: settings, servers, and faults so far. */
export class Soak {
  /** Descriptions of wrong responses and invoices; one is enough for the run to fail. */
  faults = [];
  #folder;
  #scenarioFolder;
  #scenarioId;
  #servers = [];

  constructor({ folder, settings, say }) {
    this.settings = settings;
    this.say = say;
    this.#folder = folder;
  }

  begin(id) {
    this.#scenarioId = id;
    this.#scenarioFolder = join(this.#folder, id);
    mkdirSync(this.#scenarioFolder);
    chmodSync(this.#scenarioFolder, 0o711);
  }

  /** Starts a healthy vendor, the same as the bench's. */
  startVendor() {
    return startServer([MOCK_UPSTREAM], {
      servers: this.#servers,
      logFile: join(this.#scenarioFolder, 'vendor.log'),
    });
  }

  /** Starts a vendor that spoils the responses of another one; `control` changes how (see its file). */
  async startTroubledVendor(behind) {
    const name = `troubled-vendor-${this.#servers.length}`;
    const server = await this.startControlled(TROUBLED_VENDOR, [behind.url], name);
    return {
      ...server,
      async control(mode) {
        const response = await fetch(`${server.controlUrl}/${mode}`, { method: 'POST' });
        if (response.status !== 200) throw new Error(`The vendor knows no mode ${mode}`);
      },
    };
  }

  /** Starts a vendor that prints its control address, as `controlUrl`. */
  async startControlled(program, parameters, name) {
    const server = await startServer([program, ...parameters], {
      servers: this.#servers,
      logFile: join(this.#scenarioFolder, `${name}.log`),
    });
    return { ...server, controlUrl: /is controlled at (\S+)/.exec(server.printed())[1] };
  }

  /**
   * @param models rows of the catalogue; @param providers base URLs by provider id
   * @param environment further settings
   */
  startGateway({ providers, models, environment }) {
    const folder = this.#scenarioFolder;
    return startGateway({ servers: this.#servers, folder, providers, models, environment });
  }

  /** Starts only the built service, with exactly these variables; it can be restarted. */
  startService(environment) {
    const logFile = join(this.#scenarioFolder, `gateway-${this.#servers.length}.log`);
    return startService({ servers: this.#servers, logFile, environment });
  }

  /** The folder of the current scenario. */
  get folder() {
    return this.#scenarioFolder;
  }

  /**
   * Warms up V8 and connection pools and then rests, so that later readings compare with the state that
   * the gateway must return to.
   */
  async warmUp(gateway) {
    for (const [workload, requests] of [
      [smallChat('warm-up'), WARM_UP_CHATS],
      [streamedChat('warm-up-stream', 100), WARM_UP_STREAMS],
    ]) {
      const driver = new Driver(gateway.target, workload, { connections: WARM_UP_CONCURRENCY });
      await driver.closedLoop({
        concurrency: WARM_UP_CONCURRENCY,
        durationMs: WARM_UP_LIMIT_MS,
        maxRequests: requests,
      });
      await this.finish([driver]);
    }
    await wait(this.settings.settleSeconds * 1000);
  }

  /** Closes drivers and collects their faults. @returns the number of wrong responses */
  async finish(drivers) {
    let failures = 0;
    for (const driver of drivers) {
      failures += driver.failures;
      if (driver.failures > 0) {
        this.addFaults(`${driver.failures} answers of ${driver.workload.alias} were wrong`);
        this.addFaults(...driver.faults);
      }
      await driver.close();
    }
    return failures;
  }

  /** Checks everything that the gateway booked. @returns lines of the table */
  async checkBooks(gateway) {
    const { faults, holds } = await gateway.books.findFaults();
    const errors = gateway.findLoggedErrors();
    this.addFaults(...faults.slice(0, FAULTS_TOLD), ...errors.slice(0, FAULTS_TOLD));
    return [
      none(
        `of ${gateway.books.size} invoices: wrong, missing, too many, or books that do not balance`,
        faults.length,
      ),
      none('open holds', holds),
      none("errors in the gateway's log", errors.length),
    ];
  }

  /** Registers a server of the scenario, which is stopped with the others. */
  addServer(server) {
    this.#servers.push(server);
  }

  addFaults(...faults) {
    this.faults.push(...faults.map((fault) => `${this.#scenarioId}: ${fault}`));
  }

  /** Stops in reverse order, since vendors must outlive their callers. */
  async stopServers() {
    for (const server of this.#servers.splice(0).reverse()) await server.stop();
  }
}
