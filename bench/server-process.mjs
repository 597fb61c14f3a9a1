import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 20;

/**
 * Starts a program, by default with Node, that prints `listens on <url>`. Its output goes to a file, as
 * with a service manager: a pipe would make it wait for the busy driver.
 *
 * @param options.servers receives the server as soon as there is a process to stop
 * @param options.command program that receives the parameters, with arguments of its own before them
 * @param options.startLimitMs time limit for listening
 * @param options.stopLimitMs time limit for exiting after a stop signal
 * @returns its `pid`, `url`, output so far, how to stop it, and how it exited
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
    // Helper processes exit when their stdin closes.
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  child.stdin.on('error', () => undefined);
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const server = {
    pid: child.pid,
    /** Resolves to the exit code or signal once the process has exited. */
    exited,
    url: '',
    printed: () => readFileSync(logFile, 'utf8'),
    /** Stops the process, by force when it does not react. */
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
