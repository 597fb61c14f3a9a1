import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 45_000;
const POLL_MS = 20;

/** A program that a fault can kill, and that is then restarted with the same arguments and variables. */
export class Restartable {
  /** Times of kills by `Date.now()`. */
  killedAtMs = [];
  /** Descriptions of unexpected exits after it was up. */
  deaths = [];
  /** True when it is up and has not been killed. Frozen programs count as up. */
  isThere = false;
  #spawn;
  #child;

  /** @param isUp resolves to true when it can be used */
  constructor(name, { program, words, logFile, environment, isUp }) {
    this.name = name;
    this.isUp = isUp;
    this.#spawn = () => {
      const log = openSync(logFile, 'a');
      this.#child = spawn(program, words, { env: environment, stdio: ['ignore', log, log] });
      closeSync(log);
      this.#child.once('exit', (code, signal) => this.#onExit(code ?? signal));
    };
  }

  /** Undefined once it has exited. */
  get pid() {
    return this.#isRunning ? this.#child.pid : undefined;
  }

  async start() {
    this.#spawn();
    const limitMs = Date.now() + START_LIMIT_MS;
    while (!(await this.isUp())) {
      // Restarted after a storage fault ended it, as by a service manager.
      if (!this.#isRunning) this.#spawn();
      if (Date.now() > limitMs) throw new Error(`${this.name} did not start`);
      await wait(POLL_MS);
    }
    this.isThere = true;
  }

  async kill(restartAfterMs) {
    this.isThere = false;
    this.killedAtMs.push(Date.now());
    await this.#end('SIGKILL');
    await wait(restartAfterMs);
    await this.start();
  }

  async freeze(ms) {
    this.#child.kill('SIGSTOP');
    await wait(ms);
    this.#child.kill('SIGCONT');
  }

  async stop() {
    this.isThere = false;
    const force = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
    await this.#end('SIGTERM');
    clearTimeout(force);
  }

  get #isRunning() {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async #end(signal) {
    if (!this.#isRunning) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGCONT');
    this.#child.kill(signal);
    await exited;
  }

  #onExit(how) {
    if (!this.isThere) return;
    this.isThere = false;
    this.deaths.push(`${this.name} exited unexpectedly: ${how}`);
    this.start().catch((error) => this.deaths.push(error.message));
  }
}

/** Chosen below the range of outgoing connections, which could take it while it is unused. */
export async function freePort() {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = net.createServer();
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** Returns the ids of a process's children. */
export function childrenOf(pid) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => statOf(name)?.parent === pid)
    .map(Number);
}

/** False for a process that has exited and waits to be reaped. */
export function isRunning(pid) {
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== 'Z';
}

export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

function statOf(pid) {
  try {
    const words = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { state: words[0], parent: Number(words[1]) };
  } catch {
    return undefined;
  }
}
