import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { BUILT_SERVICE, BUILT_WORKER } from '../../../scripts/ensure-built.mjs';
import { PROJECT_ROOT } from '../../../scripts/project-root.mjs';
import { gatewayEnvironment } from '../../gateway-home.mjs';
import { startServer } from '../../server-process.mjs';
import { PROVIDERS } from '../../workloads.mjs';
import { catalogueRows } from './callers.mjs';
import { FaultyPostgres } from './postgres.mjs';
import { freePort, Restartable, sendSignal } from './processes.mjs';

const MOCK_UPSTREAM = fileURLToPath(new URL('../../mock-upstream.mjs', import.meta.url));
const TROUBLED_VENDOR = fileURLToPath(new URL('../faulty-vendor.mjs', import.meta.url));
const CLOCK = new URL('./clock.mjs', import.meta.url).href;
const CREDITS = 1_000_000_000;
/** One in ten tenants runs out of credits. */
const FEW_CREDITS = 20_000;
/** Short, so that a silent vendor or database does not hold everything up. */
const LIMITS = {
  GATEWAY_FIRST_BYTE_TIMEOUT_MS: '4000',
  GATEWAY_IDLE_TIMEOUT_MS: '3000',
  GATEWAY_REQUEST_TIMEOUT_MS: '20000',
  GATEWAY_COOLDOWN_MS: '200',
};
/** A table's first file, and less than a file of the log: see `FaultyPostgres.fullDisk`. */
const TABLE_LIMIT_BYTES = 1024 * 1024;
const LOG_LIMIT_BYTES = 64 * 1024;

/** The system under test, as operators run it, and the faults that can be injected. */
export class FaultEnvironment {
  gateways = [];
  worker;
  redis;
  postgres;
  vendor;
  keys;
  /** Periods in which the database accepted no writes. */
  outages = [];
  #folder;
  #servers = [];
  #mock;

  constructor(folder) {
    this.#folder = folder;
  }

  async start({ gateways, workers, tenants }) {
    // PostgreSQL does not run as root and needs access to the folder.
    chmodSync(this.#folder, 0o711);
    const log = (name) => ({ servers: this.#servers, logFile: join(this.#folder, `${name}.log`) });
    const [postgres, mock] = await Promise.all([
      FaultyPostgres.start(this.#folder),
      startServer([MOCK_UPSTREAM], log('vendor')),
      this.#startRedis(),
    ]);
    this.postgres = postgres;
    this.#mock = mock;
    const vendor = await startServer([TROUBLED_VENDOR, mock.url], log('troubled-vendor'));
    this.vendor = {
      url: vendor.url,
      controlUrl: /is controlled at (\S+)/.exec(vendor.printed())[1],
    };
    const environment = this.#environment(tenants);
    for (let number = 0; number < gateways; number++) {
      this.gateways.push(await this.#service(`gateway-${number}`, BUILT_SERVICE, environment));
    }
    if (workers > 0) this.worker = await this.#service('worker', BUILT_WORKER, environment);
    // The first gateway creates the tables.
    await this.gateways[0].start();
    const others = [...this.gateways.slice(1), this.worker].filter(Boolean);
    await Promise.all(others.map((service) => service.start()));
  }

  /** @param fault of the plan; resolves when it has ended and everything affected has recovered */
  async hit({ kind, seconds, target, jumpSeconds, variant }) {
    const ms = seconds * 1_000;
    const gateway = this.gateways[target];
    const { postgres, redis, worker } = this;
    const faults = {
      'kill-gateway': () => gateway.kill(ms),
      'stop-gateway': () => gateway.freeze(ms),
      'kill-worker': () => worker.kill(ms),
      'stop-worker': () => worker.freeze(ms),
      clock: () => writeFileSync(clockFile(this.#folder, gateway.name), String(jumpSeconds)),
      'kill-redis': () => redis.kill(ms),
      'stop-redis': () => redis.freeze(ms),
      'kill-postgres': () => this.#outage(() => postgres.kill({ alone: variant === 0 })),
      'kill-backend': () => this.#outage(() => postgres.killBackend(target)),
      'stop-postgres': () => this.#outage(() => postgres.freeze(ms)),
      'read-only': () => this.#outage(() => postgres.readOnly(ms)),
      'full-disk': () => this.#outage(() => postgres.fullDisk(TABLE_LIMIT_BYTES, ms)),
      'full-log-disk': () => this.#outage(() => postgres.fullDisk(LOG_LIMIT_BYTES, ms)),
      'vendor-failing': () => this.#inMode('failing', ms),
      'vendor-refusing': () => this.#inMode('refusing', ms),
      'vendor-breaking': () => this.#inMode('breaking', ms),
    };
    await faults[kind]();
  }

  /** Descriptions of unexpected exits. */
  get deaths() {
    const programs = [...this.gateways, this.worker, this.redis];
    return programs.flatMap((program) => program?.deaths ?? []);
  }

  /** Resets all clocks. */
  setClocksRight() {
    for (const { name } of this.gateways) writeFileSync(clockFile(this.#folder, name), '0');
  }

  async stop() {
    const services = [...this.gateways, this.worker, this.redis].filter(Boolean);
    await Promise.all(services.map((service) => service.stop()));
    for (const server of this.#servers.splice(0).reverse()) await server.stop();
    await this.postgres?.stop();
  }

  /** Kills what is left when this process exits without having stopped it. */
  killAll() {
    for (const service of [...this.gateways, this.worker, this.redis, this.postgres]) {
      if (service?.pid !== undefined) sendSignal(service.pid, 'SIGKILL');
    }
  }

  async #startRedis() {
    const port = await freePort();
    const words = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
    ];
    const url = `redis://127.0.0.1:${port}`;
    this.redis = new Restartable('redis', {
      program: 'redis-server',
      words: [...words, '--dir', this.#folder],
      logFile: join(this.#folder, 'redis.log'),
      isUp: () => answersPing(url),
    });
    this.redis.url = url;
    await this.redis.start();
  }

  #environment(tenants) {
    this.keys = Array.from(
      { length: tenants },
      () => `sk-faults-${randomBytes(16).toString('hex')}`,
    );
    const bootstrap = {
      tenants: this.keys.map((key, index) => ({
        name: `tenant ${index}`,
        credits: index % 10 === 9 ? FEW_CREDITS : CREDITS,
        keys: [{ type: 'routing', key, rate_limit_per_minute: 1_000_000 }],
      })),
    };
    const file = join(this.#folder, 'tenants.json');
    writeFileSync(file, JSON.stringify(bootstrap));
    const home = join(this.#folder, 'home');
    mkdirSync(home);
    return gatewayEnvironment({
      folder: home,
      keyPrefix: 'sk-faults-',
      providers: [
        { id: PROVIDERS.openai, name: 'bench', base_url: `${this.vendor.url}/v1` },
        { id: 'spare', name: 'spare', base_url: `${this.#mock.url}/v1` },
        {
          id: PROVIDERS.anthropic,
          name: 'messages',
          base_url: this.#mock.url,
          adapter: 'anthropic',
          type: 'anthropic',
        },
      ],
      models: catalogueRows(),
      further: {
        ...LIMITS,
        DATABASE_URL: this.postgres.url,
        REDIS_URL: this.redis.url,
        GATEWAY_SECRET: randomBytes(32).toString('hex'),
        GATEWAY_BOOTSTRAP_FILE: file,
        GATEWAY_JOB_WORKERS: 'true',
      },
    }).environment;
  }

  async #service(name, program, environment) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const clock = clockFile(this.#folder, name);
    writeFileSync(clock, '0');
    const service = new Restartable(name, {
      program: process.execPath,
      words: ['--import', CLOCK, join(PROJECT_ROOT, program)],
      logFile: join(this.#folder, `${name}.log`),
      environment: { ...environment, PORT: String(port), FAULTS_CLOCK_FILE: clock },
      isUp: () =>
        fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
          ({ ok }) => ok,
          () => false,
        ),
    });
    service.url = url;
    return service;
  }

  async #outage(work) {
    const outage = { fromMs: Date.now(), untilMs: Infinity };
    this.outages.push(outage);
    await work();
    outage.untilMs = Date.now();
  }

  async #inMode(mode, ms) {
    await fetch(`${this.vendor.controlUrl}/${mode}`, { method: 'POST' });
    await wait(ms);
    await fetch(`${this.vendor.controlUrl}/passing`, { method: 'POST' });
  }
}

const clockFile = (folder, name) => join(folder, `${name}.clock`);

async function answersPing(url) {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    commandTimeout: 1_000,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
