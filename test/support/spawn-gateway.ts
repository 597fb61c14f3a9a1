import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT_ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_LIMIT_MS = 110_000;
/** Vendors' fakes count calls, so only callers' requests may cause any. */
const OWN_ENVIRONMENT = { PORT: '0', HOST: '127.0.0.1', GATEWAY_CHECK_KEYS: 'off' };

export interface SpawnedGateway {
  url: string;
  process: ChildProcess;
  /** Returns everything printed so far to both streams. */
  output(): string;
  /** Sends the signal and waits for the exit; resolves to the exit code or the signal's name. */
  stop(signal?: NodeJS.Signals): Promise<number | string | null>;
}

/**
 * Starts the built service as a separate process, like an operator does.
 *
 * @param program with `npm start`, the process is npm and leads a process group, like a terminal's
 *   foreground job; the caller has to kill the group at the end
 * @param root the built project, if it is a copy
 */
export async function spawnGateway(
  environment: Record<string, string>,
  program: 'main' | 'worker' | 'npm start' = 'main',
  root = PROJECT_ROOT,
): Promise<SpawnedGateway> {
  const isNpm = program === 'npm start';
  const [command, parameters] = isNpm
    ? ['npm', ['start']]
    : [process.execPath, [join(root, 'dist', 'src', `${program}.js`)]];
  const child = spawn(command, parameters, {
    cwd: root,
    detached: isNpm,
    env: { ...OWN_ENVIRONMENT, PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const read = (chunk: Buffer): void => {
    printed += chunk.toString();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);

  const limit = Date.now() + START_LIMIT_MS;
  for (;;) {
    const url = /listens on (\S+)/.exec(printed)?.[1];
    if (url !== undefined) {
      return {
        url,
        process: child,
        output: () => printed,
        async stop(signal = 'SIGTERM') {
          if (child.exitCode !== null || child.signalCode !== null) {
            return child.exitCode ?? child.signalCode;
          }
          const exit = once(child, 'exit');
          const closed = once(child, 'close');
          child.kill(signal);
          const [code, killedBy] = (await exit) as [number | null, string | null];
          // The last output may not have been read yet; child processes may keep printing.
          await Promise.race([closed, wait(1_000, undefined, { ref: false })]);
          return code ?? killedBy;
        },
      };
    }
    if (child.exitCode !== null || Date.now() > limit) {
      child.kill('SIGKILL');
      throw new Error(`The gateway did not start:\n${printed}`);
    }
    await wait(20);
  }
}
