import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { dirname } from 'node:path';
import type { BoundedLogFile } from './bounded-log-file.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { PostgresAccount } from './postgres-account.js';

/** What every run of one of PostgreSQL's programs needs. */
export interface PostgresContext {
  clusterFolder: string;
  account?: PostgresAccount;
  logFile: BoundedLogFile;
}

/** Enough of the last output to find the reason of a failure in. */
const OUTPUT_TAIL_CHARACTERS = 8_000;

/** Starts a program as the right account, with nothing of the service's environment. */
export function spawnPostgresProgram(
  context: PostgresContext,
  program: string,
  parameters: string[],
  options: SpawnOptions = {},
): ChildProcess {
  return spawn(program, parameters, {
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
}

/** Follows a program's output into the log file and keeps the end of it. */
export function followOutput(child: ChildProcess, logFile: BoundedLogFile): () => string {
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      logFile.write(chunk);
      tail = (tail + chunk.toString()).slice(-OUTPUT_TAIL_CHARACTERS);
    });
  }
  return () => tail;
}

/** Runs a program to its end; throws `EmbeddedPostgresError` with its own words if it fails. */
export async function runPostgresProgram(
  context: PostgresContext,
  program: string,
  parameters: string[],
  input = '',
): Promise<void> {
  const child = spawnPostgresProgram(context, program, parameters);
  const readTail = followOutput(child, context.logFile);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const ending = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? '' : describeEnd(code, signal)));
  });
  if (ending !== '') {
    throw new EmbeddedPostgresError(
      `PostgreSQL could not prepare its data folder: ${findReason(readTail(), ending)}\n` +
        `See ${context.logFile.path}`,
    );
  }
}

export function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it ended with status ${code ?? 'unknown'}` : `it ended by ${signal}`;
}

/** The line of the output that says why a program failed, without its time stamp. */
export function findReason(output: string, otherwise: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !/LOG: {2}/.test(line));
  const telling = lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1);
  return telling?.replace(/^.*?\[\d+\] (?=[A-Z]+: )/, '').trim() ?? otherwise;
}
