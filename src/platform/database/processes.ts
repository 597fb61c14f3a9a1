import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../errors/thrown.js';

/** Ways to stop PostgreSQL, increasingly forceful: fast, immediate, kill. */
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 5_500 },
  { signal: 'SIGQUIT', waitMs: 3_500 },
  { signal: 'SIGKILL', waitMs: 2_500 },
] as const;

const POLL_MS = 5;

/**
 * Returns whether a process is running. Zombies are not: a container whose first process does not reap
 * keeps them for ever, and `kill(pid, 0)` succeeds on them.
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
 * Returns a text that distinguishes processes with the same id: the boot and the tick at which the
 * process started. Undefined on systems without that information.
 */
export function processStartMark(pid: number): string | undefined {
  const startTick = readStatus(pid)?.[19];
  return startTick === undefined ? askPs(pid, 'lstart') : `${readBoot()}:${startTick}`;
}

/**
 * Names the machine and the PID namespace that this process sees. Process ids from another space mean
 * nothing here.
 */
export function processSpace(): string {
  try {
    return `${readBoot()}:${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return 'only';
  }
}

/** Returns a process's command line, joined by spaces; undefined when it cannot be read. */
export function processCommandLine(pid: number): string | undefined {
  const words = readIfPossible(`/proc/${pid}/cmdline`);
  return words?.replaceAll('\0', ' ').trim() ?? askPs(pid, 'command');
}

/**
 * Ends a PostgreSQL. Also continues it and its children, because a process stopped by SIGSTOP handles
 * signals only afterwards.
 *
 * @returns whether it has ended, on its own or by a signal
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

/** Polls a condition that has no event. Returns false on a timeout. */
export async function until(condition: () => boolean, limitMs: number): Promise<boolean> {
  const deadlineMs = Date.now() + limitMs;
  while (!condition()) {
    if (Date.now() > deadlineMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Returns the text of a file; undefined when it cannot be read. */
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
    // It has just ended, or belongs to another user.
  }
}

/** Returns none on systems without /proc. */
function childrenOf(pid: number): number[] {
  const names = existsSync('/proc') ? readdirSync('/proc') : [];
  return names.map(Number).filter((child) => readStatus(child)?.[1] === String(pid));
}

function readBoot(): string {
  return readIfPossible('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/** Returns the fields after the program's name, which is in parentheses and may contain spaces and parentheses. */
function readStatus(pid: number): string[] | undefined {
  const text = readIfPossible(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Asks `ps`, on macOS and the BSDs, which have no /proc. */
function askPs(pid: number, field: string): string | undefined {
  if (process.platform === 'linux' || process.platform === 'win32') return undefined;
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', `${field}=`], { encoding: 'utf8' });
  return stdout?.trim() || undefined;
}
