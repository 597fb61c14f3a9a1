import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import {
  closeSync,
  constants,
  fchownSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { EmbeddedPostgresError, type Cluster } from './cluster-location.js';
import { programFile, type RunnableCluster } from './postgres-binaries.js';
import { endPostgres } from './processes.js';
import { messageOf } from '../errors/thrown.js';
import { endsWithin } from '../time/within.js';

/** Size of each of the two files, the current one and the previous one. */
const LOG_FILE_LIMIT_BYTES = 1024 * 1024;

/** Enough of the output's end to find the reason of a failure. */
const OUTPUT_TAIL_CHARACTERS = 8_000;

const LAST_WORDS_LIMIT_MS = 200;

/** Runs a program as the right account, without the service's environment. */
export class PostgresProgram {
  readonly child: ChildProcess;
  /** Resolves with a description of the exit when the process has ended. */
  readonly ended: Promise<string>;
  /** Resolves when all output has arrived as well. */
  readonly closed: Promise<unknown>;
  private tail = '';

  constructor(
    cluster: RunnableCluster,
    name: string,
    parameters: string[],
    options?: SpawnOptions,
  ) {
    const { account, binaries, clusterFolder } = cluster;
    this.child = spawn(programFile(binaries, name), parameters, {
      // The account may not be able to enter the folder the service was started in.
      cwd: dirname(clusterFolder),
      // The service's environment has vendor keys, which PostgreSQL must not see. Windows starts no program
      // without the system's variables.
      env: process.platform === 'win32' ? undefined : { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      ...(account && { uid: account.uid, gid: account.gid }),
      windowsHide: true,
      ...options,
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        appendToLog(cluster, chunk);
        this.tail = (this.tail + chunk.toString()).slice(-OUTPUT_TAIL_CHARACTERS);
      });
    }
    this.ended = once(this.child, 'exit').then(describeEnd, messageOf);
    this.closed = once(this.child, 'close').catch(() => undefined);
  }

  get hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  /**
   * Ends the process if needed, and waits briefly for its last output: it can arrive after the exit, and
   * children of a killed server may keep the pipe open even longer.
   */
  async end(): Promise<void> {
    if (this.child.pid !== undefined) await endPostgres(this.child.pid, () => this.hasEnded);
    await endsWithin(LAST_WORDS_LIMIT_MS, this.closed);
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  /** Returns the line of the output that explains the failure, without its timestamp; without one, the exit code. */
  async failureReason(): Promise<string> {
    const lines = this.tail
      .split('\n')
      .filter((line) => line.trim() !== '' && !/LOG: {2}/.test(line));
    const telling = lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1);
    return telling?.replace(/^.*?\[\d+\] (?=[A-Z]+: )/, '').trim() ?? (await this.ended);
  }
}

/** Runs a program to its end. @throws EmbeddedPostgresError with its output when it fails */
export async function runPostgresProgram(
  cluster: RunnableCluster,
  name: string,
  parameters: string[],
  input = '',
): Promise<void> {
  const program = new PostgresProgram(cluster, name, parameters);
  program.child.stdin?.on('error', () => undefined);
  program.child.stdin?.end(input);
  await program.closed;
  if (program.child.exitCode === 0) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL could not prepare its data folder: ${await program.failureReason()}\n` +
      `See ${cluster.logFile}`,
  );
}

/** Appends to a log of limited size: a full one is renamed to `<path>.1`. */
export function appendToLog(
  { logFile, account }: Pick<Cluster, 'logFile' | 'account'>,
  text: Buffer,
  limitBytes = LOG_FILE_LIMIT_BYTES,
): void {
  const chunk = text.subarray(0, limitBytes);
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  // Root may write into another user's folder, so links planted there are not followed.
  const flags = O_APPEND | O_CREAT | O_WRONLY | (O_NOFOLLOW ?? 0);
  try {
    const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (size + chunk.length > limitBytes) renameSync(logFile, `${logFile}.1`);
    const descriptor = openSync(logFile, flags, 0o600);
    try {
      if (account !== undefined) fchownSync(descriptor, account.uid, account.gid);
      writeSync(descriptor, chunk);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // A full disk must not stop the service because of a log line.
  }
}

function describeEnd([code, signal]: (number | string | null)[]): string {
  return signal ? `it ended by ${signal}` : `it ended with status ${code ?? 'unknown'}`;
}
