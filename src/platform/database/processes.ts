import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../errors/thrown.js';

/** Asks for the end of a PostgreSQL more and more firmly: fast, immediate, by force. */
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 5_500 },
  { signal: 'SIGQUIT', waitMs: 3_500 },
  { signal: 'SIGKILL', waitMs: 2_500 },
] as const;

const POLL_MS = 5;

/**
 * Whether a process runs. One that has ended but was not reaped yet does not: a container whose
 * first process reaps nothing keeps such entries for ever, and `kill(pid, 0)` succeeds on them.
 */
export function isProcessRunning(pid: number): boolean {
  const state = readStatus(pid)?.[0];
  if (state !== undefined) return state !== 'Z' && state !== 'X';
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * A text that differs between two processes that had the same id one after the other: the boot and
 * the tick at which the process started. Undefined where the system does not tell.
 */
export function processStartMark(pid: number): string | undefined {
  const startTick = readStatus(pid)?.[19];
  return startTick === undefined ? askPs(pid, 'lstart') : `${readBoot()}:${startTick}`;
}

/**
 * Names the machine and container whose process ids this process sees. Of a process that noted
 * another name, the id says nothing here.
 */
export function processSpace(): string {
  try {
    return `${readBoot()}:${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return 'only';
  }
}

/** The command line of a process with spaces between the words, or undefined. */
export function processCommandLine(pid: number): string | undefined {
  const words = readIfPossible(`/proc/${pid}/cmdline`);
  return words?.replaceAll('\0', ' ').trim() ?? askPs(pid, 'command');
}

/**
 * Ends a PostgreSQL. Somebody may have stopped it or a child of it, which then hears nothing before
 * it goes on; that does nothing to one that runs.
 *
 * @returns whether it has ended, by itself or by a signal
 */
export async function endPostgres(pid: number, hasEnded: () => boolean): Promise<boolean> {
  for (const { signal, waitMs } of STOP_STEPS) {
    if (hasEnded()) break;
    send(signal, pid);
    for (const each of [...childrenOf(pid), pid]) send('SIGCONT', each);
    await until(hasEnded, waitMs);
  }
  return hasEnded();
}

/** Waits until something holds, which need not have an event; answers false when the time is up. */
export async function until(condition: () => boolean, limitMs: number): Promise<boolean> {
  const deadlineMs = Date.now() + limitMs;
  while (!condition()) {
    if (Date.now() > deadlineMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** What can be read at all; undefined otherwise. */
export function readIfPossible(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function send(signal: NodeJS.Signals, pid: number): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended a moment ago, or is not ours.
  }
}

/** None where the system does not tell. */
function childrenOf(pid: number): number[] {
  const names = existsSync('/proc') ? readdirSync('/proc') : [];
  return names.map(Number).filter((child) => readStatus(child)?.[1] === String(pid));
}

function readBoot(): string {
  return readIfPossible('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/** The fields after the program's name, which is in brackets and may hold spaces and brackets. */
function readStatus(pid: number): string[] | undefined {
  const text = readIfPossible(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Systems without /proc: macOS and the BSDs have `ps`. */
function askPs(pid: number, field: string): string | undefined {
  if (process.platform === 'linux' || process.platform === 'win32') return undefined;
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', `${field}=`], { encoding: 'utf8' });
  return stdout?.trim() || undefined;
}
