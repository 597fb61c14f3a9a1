import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import {
  describeEnd,
  findReason,
  followOutput,
  spawnPostgresProgram,
  type PostgresContext,
} from './postgres-command.js';
import { readPostmasterPid } from './postmaster-pid.js';

/** Recovery after a crash replays up to 256 MB of log, which a slow disk needs time for. */
const START_LIMIT_MS = 120_000;
const READY_POLL_MS = 5;
const LAST_WORDS_LIMIT_MS = 200;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // No socket file: its path may be no longer than 107 bytes, which a data folder's often is.
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements and the details of errors hold callers' data, which belongs in no log.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
} as const;

/** Asks for the end of a PostgreSQL more and more firmly: fast, immediate, by force. */
export const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 10_000 },
  { signal: 'SIGQUIT', waitMs: 3_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/** One run of a PostgreSQL server, from its start to its end. */
export class PostgresProcess {
  /** Resolves when the process has ended, with how it did in words. */
  readonly ended: Promise<string>;

  private readonly child: ChildProcess;
  private readonly closed: Promise<void>;
  private readonly readTail: () => string;
  private hasEnded = false;

  /** Starts a server; `whenReady` tells when, or whether, it takes connections. */
  constructor(
    private readonly context: PostgresContext,
    program: string,
    port: number,
  ) {
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    this.child = spawnPostgresProgram(
      context,
      program,
      ['-D', context.clusterFolder, '-p', String(port), ...settings],
      // In a process group of its own, so that Ctrl-C reaches Node alone: the service first finishes
      // its requests and then stops its database.
      { stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    );
    this.readTail = followOutput(this.child, context.logFile);
    this.closed = new Promise((resolve) => this.child.once('close', () => resolve()));
    this.ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.hasEnded = true;
        resolve(reason);
      };
      this.child.once('error', (error) => end(error.message));
      this.child.once('exit', (code, signal) => end(describeEnd(code, signal)));
    });
  }

  /** Resolves when the server takes connections; throws `EmbeddedPostgresError` if it never will. */
  async whenReady(): Promise<void> {
    const deadlineMs = Date.now() + START_LIMIT_MS;
    while (!this.isReady()) {
      if (this.hasEnded) {
        const how = await this.ended;
        // What it said last may arrive after its end. The pipe may also stay open for longer:
        // children of a server that was killed hold it for a moment.
        await settledWithin(this.closed, LAST_WORDS_LIMIT_MS);
        throw this.startError(findReason(this.readTail(), how));
      }
      if (Date.now() > deadlineMs) {
        await this.stop();
        throw this.startError(`it was not ready within ${START_LIMIT_MS / 1000} seconds`);
      }
      await sleep(READY_POLL_MS);
    }
  }

  /** Ends the server: open transactions are rolled back, what was committed is kept. */
  async stop(): Promise<void> {
    for (const { signal, waitMs } of STOP_STEPS) {
      if (this.hasEnded) {
        break;
      }
      this.child.kill(signal);
      await settledWithin(this.ended, waitMs);
    }
    await settledWithin(this.closed, LAST_WORDS_LIMIT_MS);
  }

  /** The first step of `stop`, for a Node that is exiting and can wait for nothing. */
  requestStop(): void {
    if (!this.hasEnded) {
      this.child.kill('SIGINT');
    }
  }

  private isReady(): boolean {
    const status = readPostmasterPid(this.context.clusterFolder);
    return !this.hasEnded && status?.pid === this.child.pid && status?.ready === true;
  }

  private startError(reason: string): EmbeddedPostgresError {
    return new EmbeddedPostgresError(
      `PostgreSQL did not start: ${reason}\nSee ${this.context.logFile.path}`,
    );
  }
}

/** Waits for a promise, but no longer than `limitMs`. */
async function settledWithin(promise: Promise<unknown>, limitMs: number): Promise<void> {
  const patience = new AbortController();
  await Promise.race([
    promise,
    sleep(limitMs, undefined, { signal: patience.signal }).catch(() => undefined),
  ]);
  patience.abort();
}
