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
import { dirname } from 'node:path';
import { EmbeddedPostgresError, type PostgresAccount } from './cluster-location.js';

/** What every run of one of PostgreSQL's programs needs. */
export interface PostgresContext {
  clusterFolder: string;
  account?: PostgresAccount;
  logFile: BoundedLogFile;
}

/** Each of the two files: the current one and the one before it. */
const LOG_FILE_LIMIT_BYTES = 1024 * 1024;

/** Enough of the last output to find the reason of a failure in. */
const OUTPUT_TAIL_CHARACTERS = 8_000;

/** A log file that never grows over a limit: when full it becomes `<path>.1` and a new one starts. */
export class BoundedLogFile {
  private isClosed = false;

  constructor(
    readonly path: string,
    private readonly owner?: PostgresAccount,
    private readonly limitBytes = LOG_FILE_LIMIT_BYTES,
  ) {}

  write(text: Buffer | string): void {
    if (this.isClosed) return;
    const chunk = Buffer.from(text).subarray(0, this.limitBytes);
    try {
      const { size = 0 } = statSync(this.path, { throwIfNoEntry: false }) ?? {};
      if (size + chunk.length > this.limitBytes) renameSync(this.path, `${this.path}.1`);
      this.append(chunk);
    } catch {
      // A full disk must not take the service down because of a log line.
    }
  }

  /** What is written from now on is dropped. */
  close(): void {
    this.isClosed = true;
  }

  private append(chunk: Buffer): void {
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
    // Root may be writing into a folder of another user: a link planted there is not followed.
    const flags = O_APPEND | O_CREAT | O_WRONLY | (O_NOFOLLOW ?? 0);
    const descriptor = openSync(this.path, flags, 0o600);
    try {
      if (this.owner !== undefined) fchownSync(descriptor, this.owner.uid, this.owner.gid);
      writeSync(descriptor, chunk);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** One run of a program as the right account, with nothing of the service's environment. */
export class PostgresProgram {
  readonly child: ChildProcess;
  /** Resolves when the process has ended, with how it did in words. */
  readonly ended: Promise<string>;
  /** Resolves when all it said has arrived too. */
  readonly closed: Promise<void>;
  hasEnded = false;
  hasClosed = false;
  private tail = '';

  constructor(
    context: PostgresContext,
    path: string,
    parameters: string[],
    options?: SpawnOptions,
  ) {
    this.child = spawn(path, parameters, {
      // The account may not be able to enter the folder the service was started in.
      cwd: dirname(context.clusterFolder),
      // The service's environment holds vendor keys that PostgreSQL has no business with. On Windows
      // a program does not start without the system's variables.
      env: process.platform === 'win32' ? undefined : { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      uid: context.account?.uid,
      gid: context.account?.gid,
      windowsHide: true,
      ...options,
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        context.logFile.write(chunk);
        this.tail = (this.tail + chunk.toString()).slice(-OUTPUT_TAIL_CHARACTERS);
      });
    }
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => resolve(error.message));
      this.child.once('exit', (code, signal) =>
        resolve(signal ? `it ended by ${signal}` : `it ended with status ${code ?? 'unknown'}`),
      );
    });
    this.closed = new Promise((resolve) => {
      this.child.once('error', () => resolve());
      this.child.once('close', () => resolve());
    });
    void this.ended.then(() => (this.hasEnded = true));
    void this.closed.then(() => (this.hasClosed = true));
  }

  /** The line of the output that says why it failed, without its time stamp; else how it ended. */
  async failureReason(): Promise<string> {
    const lines = this.tail
      .split('\n')
      .filter((line) => line.trim() !== '' && !/LOG: {2}/.test(line));
    const telling = lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1);
    return telling?.replace(/^.*?\[\d+\] (?=[A-Z]+: )/, '').trim() ?? (await this.ended);
  }
}

/** Runs a program to its end; throws `EmbeddedPostgresError` with its own words if it fails. */
export async function runPostgresProgram(
  context: PostgresContext,
  path: string,
  parameters: string[],
  input = '',
): Promise<void> {
  const program = new PostgresProgram(context, path, parameters);
  program.child.stdin?.on('error', () => undefined);
  program.child.stdin?.end(input);
  await program.closed;
  if (program.child.exitCode === 0) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL could not prepare its data folder: ${await program.failureReason()}\n` +
      `See ${context.logFile.path}`,
  );
}
