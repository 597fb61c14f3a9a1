import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError, type Cluster } from './cluster-location.js';
import { DATABASE, prepareCluster, readPassword, ROLE } from './cluster-preparation.js';
import type { RunnableCluster } from './postgres-binaries.js';
import { PostgresProgram } from './postgres-program.js';
import {
  endPostgres,
  isProcessRunning,
  processCommandLine,
  readIfPossible,
  until,
} from './processes.js';
import { messageOf } from '../errors/thrown.js';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements and error details contain callers' data, which must not be logged.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  // Avoids a process that this database does not need.
  max_logical_replication_workers: '0',
} as const;

/**
 * Below the range of ephemeral ports, so that a port stays free while PostgreSQL restarts on it.
 */
const PORTS = { lowest: 20_000, highest: 32_767 };

/** PostgreSQL's file names in the cluster's folder: the postmaster, and its sockets, each with a lock file. */
const PID_FILE = 'postmaster.pid';
const SOCKET = '.s.PGSQL.';

/** Crash recovery replays up to 256 MB of WAL, which takes time on a slow disk. */
const START_LIMIT_MS = 120_000;

/** Delays before each attempt of a first start. */
const FIRST_WAITS_MS = [0, 100, 200, 300, 400, 500];

/** Delays before each attempt to restart a PostgreSQL that ended unexpectedly, about 15 s in total. */
const RESTART_WAITS_MS = [0, 100, 200, 400, 800, 1_600, 3_200, 8_000];

/** After a run this long, the restart attempts are counted from zero again. */
const STEADY_RUN_MS = 60_000;

/** Some mounted folders support no sockets, and paths can be too long; the next attempt does without. */
const NO_SOCKET_HERE = /Unix-domain socket/;

/**
 * Temporary failures of a first start: no sockets, a port in use, or children of a killed server that
 * are still ending.
 */
const TEMPORARY_FAILURE = /could not create any|still in use/;

/** Keeps one PostgreSQL running on one port until it is stopped. */
export class PostgresServer {
  private port = 0;
  private takesSocket = process.platform !== 'win32';
  private run: PostgresProgram | undefined;
  private watching: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private readonly onExit = (): void => void this.run?.child.kill('SIGINT');

  private constructor(private readonly cluster: RunnableCluster) {}

  /**
   * Prepares a cluster, which the caller has locked, and starts its server. Resolves when it accepts
   * connections.
   *
   * @throws EmbeddedPostgresError when it does not start
   */
  static async start(cluster: RunnableCluster): Promise<PostgresServer> {
    await stopLeftoverPostgres(cluster);
    await prepareCluster(cluster);
    const server = new PostgresServer(cluster);
    // If Node exits without stopping the database, ask it to end, also while it starts.
    process.on('exit', server.onExit);
    try {
      server.watching = server.watch(await server.launch([...FIRST_WAITS_MS], TEMPORARY_FAILURE));
      return server;
    } catch (error) {
      process.off('exit', server.onExit);
      throw error;
    }
  }

  /** `postgres://…` of the gateway's database. */
  get url(): string {
    return composeUrl(this.cluster, this.port);
  }

  /** Stops the server and rolls back open transactions. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.run?.end();
    await this.watching;
    process.off('exit', this.onExit);
  }

  /** Restarts the server whenever it ends unexpectedly, on the same port, so that pools reconnect. */
  private async watch(first: PostgresProgram): Promise<void> {
    const { log, logFile } = this.cluster;
    let waitsMs = [...RESTART_WAITS_MS];
    for (let run = first; ;) {
      const startedAtMs = Date.now();
      const how = await run.ended;
      if (this.stopping.signal.aborted) return;
      log(`PostgreSQL ended unexpectedly: ${how}. Restarting it`);
      if (Date.now() - startedAtMs > STEADY_RUN_MS) waitsMs = [...RESTART_WAITS_MS];
      try {
        run = await this.launch(waitsMs);
        log('PostgreSQL is running again');
      } catch {
        if (!this.stopping.signal.aborted) log(`PostgreSQL could not be restarted; see ${logFile}`);
        return;
      }
    }
  }

  /**
   * Retries until one attempt succeeds or fails permanently. Takes the delay before each from the list.
   *
   * @param temporary matches failures worth another attempt; undefined for all
   */
  private async launch(waitsMs: number[], temporary?: RegExp): Promise<PostgresProgram> {
    let failure: unknown = new Error('no attempt is left');
    for (let waitMs = waitsMs.shift(); waitMs !== undefined; waitMs = waitsMs.shift()) {
      await sleep(waitMs, undefined, { signal: this.stopping.signal });
      try {
        return await this.launchOnce();
      } catch (error) {
        if (temporary?.test(messageOf(error)) === false) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  private async launchOnce(): Promise<PostgresProgram> {
    const { clusterFolder, logFile } = this.cluster;
    const port = this.port || randomInt(PORTS.lowest, PORTS.highest + 1);
    const settings = Object.entries({
      ...SETTINGS,
      // A list of one folder that is private to the account. Over a socket, a statement costs both sides
      // a fifth less than over TCP.
      unix_socket_directories: this.takesSocket ? `"${clusterFolder.replaceAll('"', '""')}"` : '',
    }).map(([name, value]) => ['-c', `${name}=${value}`]);
    const parameters = ['-D', clusterFolder, '-p', String(port), ...settings.flat()];
    // Runs in its own process group, so that Ctrl-C reaches only Node, which finishes its requests and
    // then stops the database.
    const run = (this.run = new PostgresProgram(this.cluster, 'postgres', parameters, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    }));
    const isReady = (): boolean => {
      const status = readPostmaster(clusterFolder);
      return status?.pid === run.child.pid && status?.isReady === true;
    };
    const isDecided = await until(() => run.hasEnded || isReady(), START_LIMIT_MS);
    if (isDecided && !run.hasEnded) {
      this.port = port;
      return run;
    }
    await run.end();
    const reason = isDecided
      ? await run.failureReason()
      : `it was not ready within ${START_LIMIT_MS / 1000} seconds`;
    if (NO_SOCKET_HERE.test(reason)) this.takesSocket = false;
    throw new EmbeddedPostgresError(`PostgreSQL did not start: ${reason}\nSee ${logFile}`);
  }
}

/**
 * Stops a PostgreSQL that outlived its service, so that the next one can be supervised and logged as
 * usual; a stop and a start take less than 0.1 s. The caller has the cluster's lock.
 */
export async function stopLeftoverPostgres({ clusterFolder, log }: Cluster): Promise<void> {
  const pid = readPostmaster(clusterFolder)?.pid;
  if (pid === undefined) return;
  const hasEnded = (): boolean => !isPostmasterOf(pid, clusterFolder);
  if (!hasEnded()) log(`Stopping a PostgreSQL that outlived its service (process ${pid})`);
  if (!(await endPostgres(pid, hasEnded))) {
    throw new EmbeddedPostgresError(
      `A PostgreSQL that outlived its service (process ${pid}) cannot be stopped. Kill it manually.`,
    );
  }
  // PostgreSQL checks only whether this process id exists, and would refuse to start when it was
  // reused or the process was not reaped yet. It detects children of its predecessor that are still
  // ending by their shared memory, without this file.
  for (const name of readdirSync(clusterFolder)) {
    if (name === PID_FILE || name.startsWith(SOCKET)) {
      rmSync(join(clusterFolder, name), { force: true });
    }
  }
}

/** Returns the port on which a cluster's PostgreSQL accepts connections; undefined when it does not. */
export function findRunningPort({ clusterFolder }: Cluster): number | undefined {
  const status = readPostmaster(clusterFolder);
  return status?.isReady && isPostmasterOf(status.pid, clusterFolder) ? status.port : undefined;
}

/** Adds the socket as `host`, which takes precedence over the address in the driver and in PostgreSQL's own programs. */
export function composeUrl(cluster: Cluster, port: number): string {
  const { clusterFolder } = cluster;
  const hasSocket = existsSync(join(clusterFolder, `${SOCKET}${port}`));
  const socket = hasSocket ? `?host=${encodeURIComponent(clusterFolder)}` : '';
  return `postgres://${ROLE}:${readPassword(cluster)}@127.0.0.1:${port}/${DATABASE}${socket}`;
}

/** Reads PostgreSQL's PID file; undefined when it is missing or incomplete. */
function readPostmaster(
  clusterFolder: string,
): { pid: number; port: number; isReady: boolean } | undefined {
  const lines = readIfPossible(join(clusterFolder, PID_FILE))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' };
}

/**
 * Returns whether a process is this cluster's PostgreSQL rather than another program that got a reused
 * id: its command line names the folder.
 */
function isPostmasterOf(pid: number, clusterFolder: string): boolean {
  if (!isProcessRunning(pid)) return false;
  const words = ` ${processCommandLine(pid) ?? ''} `;
  return words.includes('postgres') && words.includes(` -D ${clusterFolder} `);
}
