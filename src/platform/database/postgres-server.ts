import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './cluster-location.js';
import { PostgresProgram, type PostgresContext } from './postgres-program.js';
import {
  isPostmasterOf,
  readPostmasterPid,
  removePostmasterFiles,
  socketFolders,
} from './postmaster-files.js';
import { continueProcess } from './process-identity.js';
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

/** Below the range from which systems take the ports of outgoing connections. */
const PORTS = { lowest: 20_000, highest: 32_767, attempts: 50 };

/** Recovery after a crash replays up to 256 MB of log, which a slow disk needs time for. */
const START_LIMIT_MS = 120_000;
const POLL_MS = 5;
const LAST_WORDS_LIMIT_MS = 200;

/** Asks for the end of a PostgreSQL more and more firmly: fast, immediate, by force. */
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 5_000 },
  { signal: 'SIGQUIT', waitMs: 3_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/** A PostgreSQL that takes longer to end may have been stopped by somebody, or a child of it. */
const FROZEN_AFTER_MS = 500;

/** Waits before each attempt to bring back a PostgreSQL that ended by itself, about 15 s in all. */
const RESTART_DELAYS_MS = [0, 100, 200, 400, 800, 1_600, 3_200, 8_000];

/** A server that ran this long counts as well again: the attempts start anew. */
const STEADY_RUN_MS = 60_000;

const FIRST_START_ATTEMPTS = 6;

/** Some mounted folders take no sockets. */
const NO_SOCKET_HERE = /Unix-domain socket/;

/**
 * Failures of a first start that go away: another program took the port between the search for it
 * and its use, or children of a server that was killed are still ending.
 */
const PASSING_FAILURE = /could not create any TCP|still in use/;

/** Keeps one PostgreSQL running on one port until it is told to stop. */
export class PostgresServer {
  port = 0;

  private takesSocket = process.platform !== 'win32';
  private run: PostgresProgram | undefined;
  private watching: Promise<void> = Promise.resolve();
  private stopping: Promise<void> | undefined;
  private readonly patience = new AbortController();
  private readonly onExit = (): void => void (this.run?.hasEnded || this.run?.child.kill('SIGINT'));

  constructor(
    private readonly context: PostgresContext,
    private readonly program: string,
    private readonly log: (line: string) => void,
  ) {}

  /** Resolves when the server takes connections; throws `EmbeddedPostgresError` if it never will. */
  async start(): Promise<void> {
    // A Node that exits without stopping its database still asks it to end, also while that starts.
    process.on('exit', this.onExit);
    for (let attempt = 1; ; attempt++) {
      try {
        this.port = await findFreePort();
        this.watching = this.watch(await this.launch());
        return;
      } catch (error) {
        const message = messageOf(error);
        const isOfSocket = this.takesSocket && NO_SOCKET_HERE.test(message);
        if (isOfSocket) this.takesSocket = false;
        if (attempt === FIRST_START_ATTEMPTS || !(isOfSocket || PASSING_FAILURE.test(message))) {
          process.off('exit', this.onExit);
          throw error;
        }
        await sleep(100 * attempt);
      }
    }
  }

  /** Ends the server: open transactions are rolled back, what was committed is kept. */
  stop(): Promise<void> {
    return (this.stopping ??= this.stopNow());
  }

  private async stopNow(): Promise<void> {
    this.patience.abort();
    if (this.run) await endRun(this.run);
    await this.watching;
    process.off('exit', this.onExit);
  }

  private async launch(): Promise<PostgresProgram> {
    const { clusterFolder, logFile } = this.context;
    const settings = Object.entries({
      ...SETTINGS,
      unix_socket_directories: this.takesSocket ? socketFolders(clusterFolder, this.port) : '',
    }).map(([name, value]) => ['-c', `${name}=${value}`]);
    const parameters = ['-D', clusterFolder, '-p', String(this.port), ...settings.flat()];
    // In a process group of its own, so that Ctrl-C reaches Node alone: the service first finishes
    // its requests and then stops its database.
    const run = (this.run = new PostgresProgram(this.context, this.program, parameters, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    }));
    const isReady = (): boolean => {
      const status = readPostmasterPid(clusterFolder);
      return status?.pid === run.child.pid && status?.ready === true;
    };
    const isDecided = await until(() => run.hasEnded || isReady(), START_LIMIT_MS);
    if (isDecided && !run.hasEnded) return run;
    await endRun(run);
    const reason = isDecided
      ? await run.failureReason()
      : `it was not ready within ${START_LIMIT_MS / 1000} seconds`;
    throw new EmbeddedPostgresError(`PostgreSQL did not start: ${reason}\nSee ${logFile.path}`);
  }

  private async watch(first: PostgresProgram): Promise<void> {
    let failures = 0;
    for (let run: PostgresProgram | undefined = first; run !== undefined;) {
      const startedAtMs = Date.now();
      const how = await run.ended;
      if (this.stopping !== undefined) return;
      this.log(`PostgreSQL ended unexpectedly: ${how}. Restarting it`);
      if (Date.now() - startedAtMs > STEADY_RUN_MS) failures = 0;
      for (run = undefined; run === undefined && failures < RESTART_DELAYS_MS.length; failures++) {
        run = await this.restart(RESTART_DELAYS_MS[failures] ?? 0);
        if (this.stopping !== undefined) return run && endRun(run);
      }
      this.log(
        run === undefined
          ? `PostgreSQL could not be brought back; see ${this.context.logFile.path}`
          : 'PostgreSQL runs again',
      );
    }
  }

  /** On the same port, so that connection pools find the server again. */
  private async restart(delayMs: number): Promise<PostgresProgram | undefined> {
    try {
      await sleep(delayMs, undefined, { signal: this.patience.signal });
      return await this.launch();
    } catch {
      return undefined;
    }
  }
}

/**
 * Ends a PostgreSQL that outlived its service, so that the next one can be watched and logged like
 * any other; a stop and a start take less than 0.1 s. The caller owns the cluster's lock.
 */
export async function stopLeftoverPostgres(
  clusterFolder: string,
  log: (line: string) => void,
): Promise<void> {
  const pid = readPostmasterPid(clusterFolder)?.pid;
  if (pid === undefined) return;
  const hasEnded = (): boolean => !isPostmasterOf(pid, clusterFolder);
  if (!hasEnded()) {
    log(`Stopping a PostgreSQL that outlived its service (process ${pid})`);
    if (!(await endProcess(pid, (signal) => process.kill(pid, signal), hasEnded))) {
      throw new EmbeddedPostgresError(
        `A PostgreSQL that outlived its service (process ${pid}) cannot be stopped: end it by hand.`,
      );
    }
  }
  // PostgreSQL itself only looks whether this process id exists, and would refuse to start when it
  // was given to another program, or when nobody has reaped the process yet. Children of its
  // predecessor that are still ending it notices by their shared memory, without this file.
  removePostmasterFiles(clusterFolder);
}

/**
 * A port of 127.0.0.1 that is free now. It is taken from a range that outgoing connections do not
 * use, so that it stays free while PostgreSQL restarts on it.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < PORTS.attempts; attempt++) {
    const port = randomInt(PORTS.lowest, PORTS.highest + 1);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
  throw new Error(`no free port between ${PORTS.lowest} and ${PORTS.highest} on 127.0.0.1`);
}

/**
 * Ends a run, or notes that it has ended. What it said last may arrive after its end; the pipe may
 * also stay open for longer, as children of a server that was killed hold it for a moment.
 */
async function endRun(run: PostgresProgram): Promise<void> {
  await endProcess(
    run.child.pid,
    (signal) => run.child.kill(signal),
    () => run.hasEnded,
  );
  await until(() => run.hasClosed, LAST_WORDS_LIMIT_MS);
}

/** Answers whether the process has ended, by itself or by a signal. */
async function endProcess(
  pid: number | undefined,
  send: (signal: NodeJS.Signals) => void,
  hasEnded: () => boolean,
): Promise<boolean> {
  for (const { signal, waitMs } of STOP_STEPS) {
    if (hasEnded()) break;
    try {
      send(signal);
    } catch {
      // It may have ended by itself a moment ago.
    }
    if (await until(hasEnded, FROZEN_AFTER_MS)) break;
    if (pid !== undefined) continueProcess(pid);
    await until(hasEnded, waitMs);
  }
  return hasEnded();
}

/** Waits until something holds, which need not have an event; answers false when the time is up. */
async function until(condition: () => boolean, limitMs: number): Promise<boolean> {
  const deadlineMs = Date.now() + limitMs;
  while (!condition()) {
    if (Date.now() > deadlineMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}
