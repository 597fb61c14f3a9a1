import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 20;

/**
 * Starts a Node program that says `listens on <url>`. What it prints goes to a file, as a service
 * manager does it: a pipe would make it wait for the driver, which is busy.
 *
 * @returns its `pid`, its `url`, what it printed so far, and how to end it
 */
export async function startServer(parameters, { logFile, environment = process.env }) {
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, parameters, {
    env: environment,
    // The end of stdin tells a helper process that this one has ended.
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  child.stdin.on('error', () => undefined);
  const printed = () => readFileSync(logFile, 'utf8');

  const limitMs = Date.now() + START_LIMIT_MS;
  let url;
  while ((url = /listens on (\S+)/.exec(printed())?.[1]) === undefined) {
    if (hasEnded(child) || Date.now() > limitMs) {
      child.kill('SIGKILL');
      throw new Error(`${parameters.join(' ')} did not start:\n${printed()}`);
    }
    await wait(POLL_MS);
  }
  return {
    url,
    pid: child.pid,
    printed,
    hasEnded: () => hasEnded(child),
    /** Ends the process, by force when it does not listen. Resolves to whether force was needed. */
    async stop() {
      if (hasEnded(child)) return false;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      const isLate = wait(STOP_LIMIT_MS, true, { ref: false });
      if (!(await Promise.race([exit.then(() => false), isLate]))) return false;
      child.kill('SIGKILL');
      await exit;
      return true;
    },
  };
}

function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}
