import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { codeOf } from '../errors/thrown.js';

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

/** Lets a process that was stopped go on, and its children. Does nothing to one that runs. */
export function continueProcess(pid: number): void {
  for (const one of [...childrenOf(pid), pid]) {
    try {
      process.kill(one, 'SIGCONT');
    } catch {
      // It has ended meanwhile, or is not ours.
    }
  }
}

/** None where the system does not tell. */
function childrenOf(pid: number): number[] {
  try {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return pids.filter((child) => readStatus(child)?.[1] === String(pid));
  } catch {
    return [];
  }
}

/** The command line of a process with spaces between the words, or undefined. */
export function processCommandLine(pid: number): string | undefined {
  const words = readText(`/proc/${pid}/cmdline`);
  return words?.replaceAll('\0', ' ').trim() ?? askPs(pid, 'command');
}

function readBoot(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/** The fields after the program's name, which is in brackets and may hold spaces and brackets. */
function readStatus(pid: number): string[] | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Systems without /proc: macOS and the BSDs have `ps`. */
function askPs(pid: number, field: string): string | undefined {
  if (process.platform === 'linux' || process.platform === 'win32') return undefined;
  try {
    const output = execFileSync('ps', ['-p', String(pid), '-o', `${field}=`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return output.toString().trim() || undefined;
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
