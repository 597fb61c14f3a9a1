import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { PROJECT_ROOT } from '../../../scripts/project-root.mjs';
import { childrenOf, freePort, isRunning, sendSignal } from './processes.mjs';

const run = promisify(execFile);
const SYSTEM_BINARIES = '/usr/lib/postgresql/15/bin';
const NOBODY = 65_534;
const DATABASE = 'gateway';
const START_LIMIT_MS = 60_000;
const POLL_MS = 50;
/** Size of write-ahead log files, chosen so that a file size limit stops tables but not the log. */
const SEGMENT_MB = 1;
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '64MB',
  // Only a crash of the machine needs it, which is not one of the faults.
  fsync: 'off',
  full_page_writes: 'off',
  timezone: 'UTC',
};

/** A separate PostgreSQL that is kept running, as by a service manager, and can be disturbed. */
export class FaultyPostgres {
  url;
  port;
  #folder;
  #binaries;
  #child;
  #isStopping = false;
  #keeping;
  #isDiskFull = false;
  #log;

  /** @param folder exists and is accessible to other users */
  static async start(folder) {
    const postgres = new FaultyPostgres();
    await postgres.#prepare(folder);
    postgres.#keeping = postgres.#keepRunning();
    await postgres.untilReady();
    await postgres.query('CREATE DATABASE ' + DATABASE, 'postgres');
    return postgres;
  }

  async #prepare(folder) {
    this.#folder = join(folder, 'postgres');
    mkdirSync(this.#folder);
    if (isRoot()) chownSync(this.#folder, NOBODY, NOBODY);
    chmodSync(this.#folder, 0o700);
    this.#log = join(folder, 'postgres.log');
    this.#binaries = await findBinaries(folder);
    this.port = await freePort();
    this.url = `postgres://postgres@127.0.0.1:${this.port}/${DATABASE}`;
    const words = ['-D', this.#folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
    words.push('--locale=C', `--wal-segsize=${SEGMENT_MB}`);
    await run(join(this.#binaries, 'initdb'), words, account());
  }

  /** Restarts it whenever it has exited, except while the disk is full. */
  async #keepRunning() {
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    while (!this.#isStopping) {
      if (this.#isDiskFull) {
        await wait(POLL_MS);
        continue;
      }
      const words = ['-D', this.#folder, '-p', String(this.port), ...settings];
      // Through a pipe, since a file size limit would also apply to its log.
      const options = { ...account(), stdio: ['ignore', 'ignore', 'pipe'], detached: true };
      this.#child = spawn(join(this.#binaries, 'postgres'), words, options);
      this.#child.stderr.pipe(createWriteStream(this.#log, { flags: 'a' }));
      await once(this.#child, 'exit');
      await wait(POLL_MS);
    }
  }

  /** Resolves when it accepts connections and writes. */
  async untilReady() {
    const limitMs = Date.now() + START_LIMIT_MS;
    for (;;) {
      try {
        await this.query('SELECT 1', 'postgres');
        return;
      } catch (error) {
        if (Date.now() > limitMs) throw error;
        await wait(POLL_MS);
      }
    }
  }

  /** Runs one statement over a separate connection. @returns the rows */
  async query(statement, database = DATABASE) {
    const client = new pg.Client({
      connectionString: `postgres://postgres@127.0.0.1:${this.port}/${database}`,
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Undefined while it is stopped. */
  get pid() {
    return this.#child?.exitCode === null ? this.#child.pid : undefined;
  }

  get #pids() {
    return [this.#child.pid, ...childrenOf(this.#child.pid)];
  }

  /** @param alone leaves its children to notice themselves */
  async kill({ alone }) {
    const pids = this.#pids;
    for (const pid of alone ? pids.slice(0, 1) : pids) sendSignal(pid, 'SIGKILL');
    while (pids.some(isRunning)) await wait(POLL_MS);
    await this.untilReady();
  }

  /** Kills one backend process; PostgreSQL then ends all of them and recovers. */
  async killBackend(random) {
    const [backend] = await this.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = '${DATABASE}' AND pid <> pg_backend_pid()
        ORDER BY pid OFFSET ${random} % greatest((SELECT count(*) FROM pg_stat_activity
          WHERE datname = '${DATABASE}' AND pid <> pg_backend_pid()), 1) LIMIT 1`,
    );
    if (backend) sendSignal(backend.pid, 'SIGKILL');
    await wait(POLL_MS);
    await this.untilReady();
  }

  async freeze(ms) {
    const pids = this.#pids;
    for (const pid of pids) sendSignal(pid, 'SIGSTOP');
    await wait(ms);
    for (const pid of pids.reverse()) sendSignal(pid, 'SIGCONT');
    await this.untilReady();
  }

  async readOnly(ms) {
    await this.query('ALTER SYSTEM SET default_transaction_read_only = on', 'postgres');
    await this.query('SELECT pg_reload_conf()', 'postgres');
    await wait(ms);
    await this.untilReady();
    await this.query('ALTER SYSTEM RESET default_transaction_read_only', 'postgres');
    await this.query('SELECT pg_reload_conf()', 'postgres');
  }

  /**
   * Limits the size of its files (RLIMIT_FSIZE), which fails like a full disk: statements that need space,
   * or, with less than a log segment, the whole server.
   */
  async fullDisk(bytes, ms) {
    this.#isDiskFull = true;
    try {
      const pids = this.#pids;
      await limitFiles(pids[0], bytes);
      assertLimited(pids[0], bytes);
      for (const pid of pids.slice(1)) await limitFiles(pid, bytes);
      await wait(ms);
    } finally {
      this.#isDiskFull = false;
      if (this.#child.exitCode === null) {
        for (const pid of this.#pids) await limitFiles(pid, 'unlimited');
      }
    }
    await this.untilReady();
  }

  async stop() {
    this.#isStopping = true;
    if (this.#child) sendSignal(this.#child.pid, 'SIGQUIT');
    await this.#keeping;
  }
}

const isRoot = () => process.getuid?.() === 0;

/** PostgreSQL refuses to run as root. */
function account() {
  return isRoot() ? { uid: NOBODY, gid: NOBODY, cwd: '/' } : { cwd: '/' };
}

/** A process can exit in the meantime. */
async function limitFiles(pid, bytes) {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`], account()).catch((error) => {
    if (error.code === 'ENOENT') throw error;
  });
}

function assertLimited(pid, bytes) {
  if (!isRunning(pid)) return;
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  if (new RegExp(`^Max file size +${bytes} `, 'm').test(limits)) return;
  throw new Error("PostgreSQL's file size cannot be limited");
}

async function findBinaries(folder) {
  if (existsSync(join(SYSTEM_BINARIES, 'initdb'))) return SYSTEM_BINARIES;
  const path = join(PROJECT_ROOT, 'dist/src/platform/database/postgres-binaries.js');
  const { preparePostgresBinaries } = await import(pathToFileURL(path).href);
  const binaries = await preparePostgresBinaries({
    binariesFolder: join(folder, 'binaries'),
    account: account(),
  });
  return binaries.folder;
}
