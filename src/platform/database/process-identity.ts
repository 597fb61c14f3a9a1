import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Whether a process runs. One that has ended but was not reaped yet does not: a container whose
 * first process reaps nothing keeps such entries for ever, and `kill(pid, 0)` succeeds on them.
 */
export function isProcessRunning(pid: number): boolean {
  const status = readProcessStatus(pid);
  if (status !== undefined) {
    return status.state !== 'Z' && status.state !== 'X';
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * A text that differs between two processes that had the same id one after the other: the boot and
 * the tick at which the process started. Undefined where the system does not tell.
 */
export function processStartMark(pid: number): string | undefined {
  const status = readProcessStatus(pid);
  if (status !== undefined) {
    return `${readBoot()}:${status.startTick}`;
  }
  return processStatusLine(pid, 'lstart');
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
  const commandLine = readText(`/proc/${pid}/cmdline`);
  return commandLine?.replaceAll('\0', ' ').trim() ?? processStatusLine(pid, 'command');
}

function readBoot(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function readProcessStatus(pid: number): { state: string; startTick: string } | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) {
    return undefined;
  }
  // The second field is the program's name in brackets and may itself hold spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTick: fields[19] ?? '' };
}

/** Systems without /proc: macOS and the BSDs have `ps`. */
function processStatusLine(pid: number, field: string): string | undefined {
  if (process.platform === 'linux' || process.platform === 'win32') {
    return undefined;
  }
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
