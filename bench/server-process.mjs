import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 20;

/**
 * Starts a program, of Node unless told otherwise, that says `listens on <url>`. What it prints goes to a file, as a service
 * manager does it: a pipe would make it wait for the driver, which is busy.
 *
 * @param options.servers gets the new one as soon as there is a process that has to be stopped
 * @param options.command the program that gets the parameters, with words of its own before them
 * @param options.startLimitMs so long it may take to listen
 * @param options.stopLimitMs so long a process that is told to end may take
 * @returns its `pid`, its `url`, what it printed so far, how to end it, and how it ended
 */
export async function startServer(
  parameters,
  {
    servers,
    logFile,
    environment = process.env,
    command = [process.execPath],
    startLimitMs = START_LIMIT_MS,
    stopLimitMs = STOP_LIMIT_MS,
  },
) {
  const log = openSync(logFile, 'a');
  const [program, ...words] = [...command, ...parameters];
  const child = spawn(program, words, {
    env: environment,
    // The end of stdin tells a helper process that this one has ended.
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  child.stdin.on('error', () => undefined);
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const server = {
    pid: child.pid,
    /** Resolves to the exit code or the signal once the process has ended. */
    exited,
    url: '',
    printed: () => readFileSync(logFile, 'utf8'),
    /** Ends the process, by force when it does not listen. */
    async stop() {
      if (hasEnded(child)) return;
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
      await exited;
      clearTimeout(force);
    },
  };
  servers.push(server);

  const limitMs = Date.now() + startLimitMs;
  for (;;) {
    const url = /listens on (\S+)/.exec(server.printed())?.[1];
    if (url !== undefined) return Object.assign(server, { url });
    if (hasEnded(child) || Date.now() > limitMs) {
      throw new Error(`${parameters.join(' ')} did not start:\n${server.printed()}`);
    }
    await wait(POLL_MS);
  }
}

function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}
