import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { gatewayEnvironment } from '../../gateway-home.mjs';
import { Books } from '../books.mjs';
import { MODELS, PROVIDERS } from './models.mjs';

const VENDOR = fileURLToPath(new URL('./scripted-vendor.mjs', import.meta.url));
const NEIGHBOUR = fileURLToPath(new URL('./neighbour.mjs', import.meta.url));
const RICH = 1_000_000_000_000;
/** Credits for fifty answers of the maximum length in credit attacks. */
export const SMALL_CREDITS = 16_000_000;
const RATE_LIMIT_PER_MINUTE = 1_000_000;
const RECORD_LIMIT_MS = 6_000;
const HEALTH_LIMIT_MS = 10_000;
/**
 * Niceness of attackers and their vendor. In reality they are on other machines; here they share cores
 * with the service and the neighbour, whose latencies they would distort.
 */
const ELSEWHERE = 10;
/** Only root can raise the priority again. */
const canReturn = process.getuid?.() === 0;
/** The neighbour's request, unless an attack needs another one. */
const NEIGHBOURLY_BODY = JSON.stringify({
  model: 'bench-quiet/neighbour',
  messages: [{ role: 'user', content: 'Good morning. '.repeat(30) }],
  max_tokens: 100,
});

/** Limits that the attacks hit, small enough to be reached in seconds. */
const SETTINGS = {
  GATEWAY_SANDBOX: 'true',
  GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
  GATEWAY_MAX_IN_FLIGHT_PER_KEY: '1000',
  GATEWAY_MAX_IN_FLIGHT_PER_TENANT: '2000',
  GATEWAY_BODY_BUDGET_MB: '256',
  GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE: '2000',
  GATEWAY_MAX_OPEN_JOBS_PER_TENANT: '200',
};

/**
 * The attacked service with a vendor of known usage and a well-behaved neighbour. If an attack ends the
 * process, it is restarted on the same data for the next one.
 */
export class Stronghold {
  /** How often an attack ended the process or made it unresponsive. */
  deaths = 0;
  keys = {};
  #soak;
  #environment;
  #service;
  #vendor;
  #neighbour;
  #ended;
  #books;

  constructor(soak) {
    this.#soak = soak;
  }

  async start() {
    this.#vendor = await this.#soak.startControlled(VENDOR, [], 'known-vendor');
    const quiet = await this.#soak.startControlled(VENDOR, [], 'quiet-vendor');
    setPriorityOfThreads(this.#vendor.pid, ELSEWHERE);
    const { folder } = this.#soak;
    const { dataDirectory, environment } = gatewayEnvironment({
      folder,
      keyPrefix: 'sk-soak-',
      providers: PROVIDERS(this.#vendor.url, quiet.url),
      models: MODELS,
      further: { ...SETTINGS, GATEWAY_BOOTSTRAP_FILE: this.#writeTenants(folder) },
    });
    this.#environment = environment;
    this.#books = new Books(dataDirectory);
    await this.#startService();
  }

  /** Runs an attack at low priority, as if from another machine. */
  async fromElsewhere(attack) {
    if (!canReturn) return attack();
    setPriorityOfThreads(process.pid, ELSEWHERE);
    try {
      return await attack();
    } finally {
      setPriorityOfThreads(process.pid, 0);
    }
  }

  /** Restarts the service on its data with additional settings. */
  async restart(settings = {}) {
    if (!this.hasEnded) await this.#service.stop();
    await this.#startService(settings);
  }

  /** Stops the service gracefully. @returns the duration in seconds */
  async stop() {
    const startedMs = Date.now();
    await this.#service.stop();
    return (Date.now() - startedMs) / 1000;
  }

  /**
   * Restarts and counts a process that an attack ended or made unresponsive.
   * @returns which of the two, or undefined for a healthy one
   */
  async recover() {
    if (!this.hasEnded && (await this.#answers())) return undefined;
    this.deaths++;
    const end = this.hasEnded ? 'ended' : `no response within ${HEALTH_LIMIT_MS / 1000} s`;
    if (!this.hasEnded) process.kill(this.pid, 'SIGKILL');
    await this.#service.exited;
    await this.#startService();
    return end;
  }

  get url() {
    return this.#service.url;
  }

  get pid() {
    return this.#service.pid;
  }

  get exited() {
    return this.#service.exited;
  }

  get hasEnded() {
    return this.#ended !== undefined;
  }

  /** Starts the neighbour's requests. `end` returns its p99 and its number of failed requests. */
  beginNeighbour(body = NEIGHBOURLY_BODY) {
    this.#neighbour.send({ type: 'begin', body });
    return {
      end: async () => {
        this.#neighbour.send({ type: 'end' });
        const [figures] = await once(this.#neighbour, 'message');
        return figures;
      },
    };
  }

  /** Returns what the vendor generated for a call, once its connection is closed. */
  async vendorCall(id) {
    const limitMs = Date.now() + RECORD_LIMIT_MS;
    for (;;) {
      const call = (await this.vendorCalls()).find((candidate) => candidate.id === id);
      if ((call && call.state !== 'open') || Date.now() > limitMs) return call;
      await wait(50);
    }
  }

  async vendorCalls() {
    const { body } = await request(this.#vendor.controlUrl);
    return body.json();
  }

  query(statement, values) {
    return this.#books.query(statement, values);
  }

  findImbalances() {
    return this.#books.findImbalances();
  }

  /** Waits for a row of the request log; undefined when it does not appear. */
  async logRow(condition, values) {
    const limitMs = Date.now() + RECORD_LIMIT_MS;
    for (;;) {
      const [row] = await this.query(`SELECT * FROM request_logs WHERE ${condition}`, values);
      if (row !== undefined || Date.now() > limitMs) return row;
      await wait(100);
    }
  }

  /** Sends a body, or a GET without one. Never rejects for a status. */
  async call(path, { key = this.keys.attacker, method, body, headers = {}, agent, signal } = {}) {
    const response = await request(this.url + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      dispatcher: agent ?? this.agent,
      signal,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text };
  }

  async #startService(settings = {}) {
    const niceness = getPriority();
    if (canReturn) setPriority(0);
    const starting = this.#soak.startService({ ...this.#environment, ...settings });
    if (canReturn) setPriority(niceness);
    const service = await starting;
    this.#service = service;
    this.#ended = undefined;
    service.exited.then((ending) => {
      if (this.#service === service) this.#ended = ending;
    });
    this.agent = new Agent({ connections: 4_000, keepAliveTimeout: 5_000, headersTimeout: 60_000 });
    this.#neighbour?.kill();
    this.#neighbour = fork(NEIGHBOUR, [service.url, this.keys.neighbour]);
    if (canReturn) setPriority(this.#neighbour.pid, 0);
    this.#soak.addServer({ stop: async () => this.#neighbour.kill() });
  }

  async #answers() {
    try {
      const response = await request(`${this.url}/healthz`, {
        headersTimeout: HEALTH_LIMIT_MS,
        dispatcher: new Agent({ connections: 1 }),
      });
      await response.body.dump();
      return response.statusCode === 200;
    } catch {
      return false;
    }
  }

  #writeTenants(folder) {
    const key = (name, type = 'routing') => {
      const prefix = type === 'management' ? 'sk-mgmt-soak-' : 'sk-soak-';
      this.keys[name] = `${prefix}${randomBytes(16).toString('hex')}`;
      return { type, key: this.keys[name], rate_limit_per_minute: RATE_LIMIT_PER_MINUTE };
    };
    const tenants = [
      {
        name: 'attacker',
        credits: RICH,
        keys: [key('attacker'), key('attackerManagement', 'management')],
      },
      { name: 'neighbour', credits: RICH, keys: [key('neighbour')] },
      { name: 'prison', credits: RICH, keys: [key('warden', 'management')] },
      { name: 'small', credits: SMALL_CREDITS, keys: [key('small')] },
    ];
    const file = join(folder, 'tenants.json');
    writeFileSync(file, JSON.stringify({ tenants }));
    return file;
  }
}

/** On Linux each thread has its own priority, including garbage collection threads. */
function setPriorityOfThreads(pid, niceness) {
  const threads = process.platform === 'linux' ? readdirSync(`/proc/${pid}/task`) : [pid];
  for (const thread of threads) setPriority(Number(thread), niceness);
}
