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
  // Statements and the details of errors hold callers' data, which belongs in no log.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  // No process that this database has no use for.
  max_logical_replication_workers: '0',
} as const;

/**
 * Below the range from which systems take the ports of outgoing connections, so that a port stays free
 * while PostgreSQL restarts on it.
 */
const PORTS = { lowest: 20_000, highest: 32_767 };

/** PostgreSQL's own names, in the cluster's folder: who runs, and its sockets, each with a lock beside it. */
const PID_FILE = 'postmaster.pid';
const SOCKET = '.s.PGSQL.';

/** Recovery after a crash replays up to 256 MB of log, which a slow disk needs time for. */
const START_LIMIT_MS = 120_000;

/** Waits before each attempt of a first start. */
const FIRST_WAITS_MS = [0, 100, 200, 300, 400, 500];

/** Waits before each attempt to bring back a PostgreSQL that ended by itself, about 15 s in all. */
const RESTART_WAITS_MS = [0, 100, 200, 400, 800, 1_600, 3_200, 8_000];

/** A server that ran this long counts as well again: the attempts start anew. */
const STEADY_RUN_MS = 60_000;

/** Some mounted folders take no sockets, and paths may be too long for one; the next attempt does without. */
const NO_SOCKET_HERE = /Unix-domain socket/;

/**
 * Failures of a first start that go away: no sockets, another program has the port, or children of a
 * server that was killed are still ending.
 */
const PASSING_FAILURE = /could not create any|still in use/;

/** Keeps one PostgreSQL running on one port until it is told to stop. */
export class PostgresServer {
  private port = 0;
  private takesSocket = process.platform !== 'win32';
  private run: PostgresProgram | undefined;
  private watching: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private readonly onExit = (): void => void this.run?.child.kill('SIGINT');

  private constructor(private readonly cluster: RunnableCluster) {}

  /**
   * Makes a cluster ready, which the caller has locked, and starts its server. Resolves when that takes
   * connections; throws `EmbeddedPostgresError` if it never will.
   */
  static async start(cluster: RunnableCluster): Promise<PostgresServer> {
    await stopLeftoverPostgres(cluster);
    await prepareCluster(cluster);
    const server = new PostgresServer(cluster);
    // A Node that exits without stopping its database still asks it to end, also while that starts.
    process.on('exit', server.onExit);
    try {
      server.watching = server.watch(await server.launch([...FIRST_WAITS_MS], PASSING_FAILURE));
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

  /** Ends the server: open transactions are rolled back, what was committed is kept. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.run?.end();
    await this.watching;
    process.off('exit', this.onExit);
  }

  /** Brings it back whenever it ends by itself, on the same port, so that pools find it again. */
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
        log('PostgreSQL runs again');
      } catch {
        if (!this.stopping.signal.aborted)
          log(`PostgreSQL could not be brought back; see ${logFile}`);
        return;
      }
    }
  }

  /**
   * Tries until one attempt succeeds, or fails in a way that does not pass; takes the wait before each
   * from the list.
   */
  private async launch(waitsMs: number[], passing?: RegExp): Promise<PostgresProgram> {
    let failure: unknown = new Error('no attempt is left');
    for (let waitMs = waitsMs.shift(); waitMs !== undefined; waitMs = waitsMs.shift()) {
      await sleep(waitMs, undefined, { signal: this.stopping.signal });
      try {
        return await this.launchOnce();
      } catch (error) {
        if (passing?.test(messageOf(error)) === false) throw error;
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
      // A list of one folder, into which nobody else can look: a statement costs both sides a fifth
      // less than over TCP.
      unix_socket_directories: this.takesSocket ? `"${clusterFolder.replaceAll('"', '""')}"` : '',
    }).map(([name, value]) => ['-c', `${name}=${value}`]);
    const parameters = ['-D', clusterFolder, '-p', String(port), ...settings.flat()];
    // In a process group of its own, so that Ctrl-C reaches Node alone: the service first finishes
    // its requests and then stops its database.
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
 * Ends a PostgreSQL that outlived its service, so that the next one can be watched and logged like
 * any other; a stop and a start take less than 0.1 s. The caller owns the cluster's lock.
 */
export async function stopLeftoverPostgres({ clusterFolder, log }: Cluster): Promise<void> {
  const pid = readPostmaster(clusterFolder)?.pid;
  if (pid === undefined) return;
  const hasEnded = (): boolean => !isPostmasterOf(pid, clusterFolder);
  if (!hasEnded()) log(`Stopping a PostgreSQL that outlived its service (process ${pid})`);
  if (!(await endPostgres(pid, hasEnded))) {
    throw new EmbeddedPostgresError(
      `A PostgreSQL that outlived its service (process ${pid}) cannot be stopped: end it by hand.`,
    );
  }
  // PostgreSQL itself only looks whether this process id exists, and would refuse to start when it
  // was given to another program, or when nobody has reaped the process yet. Children of its
  // predecessor that are still ending it notices by their shared memory, without this file.
  for (const name of readdirSync(clusterFolder)) {
    if (name === PID_FILE || name.startsWith(SOCKET)) {
      rmSync(join(clusterFolder, name), { force: true });
    }
  }
}

/** The port on which a cluster's PostgreSQL takes connections; undefined: it does not yet. */
export function findRunningPort({ clusterFolder }: Cluster): number | undefined {
  const status = readPostmaster(clusterFolder);
  return status?.isReady && isPostmasterOf(status.pid, clusterFolder) ? status.port : undefined;
}

/** With a socket as `host`, which goes before the address, for the driver as for PostgreSQL's own programs. */
export function composeUrl(cluster: Cluster, port: number): string {
  const { clusterFolder } = cluster;
  const hasSocket = existsSync(join(clusterFolder, `${SOCKET}${port}`));
  const socket = hasSocket ? `?host=${encodeURIComponent(clusterFolder)}` : '';
  return `postgres://${ROLE}:${readPassword(cluster)}@127.0.0.1:${port}/${DATABASE}${socket}`;
}

/** What a running PostgreSQL says about itself; undefined when there is none or it is being written. */
function readPostmaster(
  clusterFolder: string,
): { pid: number; port: number; isReady: boolean } | undefined {
  const lines = readIfPossible(join(clusterFolder, PID_FILE))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' };
}

/**
 * Whether a process is the PostgreSQL of this cluster, and not another program that was given the
 * id of one that ended: the command line names the folder.
 */
function isPostmasterOf(pid: number, clusterFolder: string): boolean {
  if (!isProcessRunning(pid)) return false;
  const words = ` ${processCommandLine(pid) ?? ''} `;
  return words.includes('postgres') && words.includes(` -D ${clusterFolder} `);
}
