import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isConsoleBuilt, writeConsoleState } from './console.mjs';
import { PROJECT_ROOT } from './project-root.mjs';

/**
 * Announces at `/console` that a build will follow. Call before the service starts. Returns whether
 * there is anything to build.
 */
export function announceConsole(root = PROJECT_ROOT) {
  const isWanted = process.env.GATEWAY_CONSOLE !== 'off';
  if (!isWanted || !existsSync(join(root, 'console', 'package.json')) || isConsoleBuilt(root)) {
    return false;
  }
  try {
    writeConsoleState(root, { step: 'waiting for the service to start' });
    return true;
  } catch (error) {
    console.error(
      `The console is not built because nothing can be written here (${error.code}). Run npm run build:console as a user with write access.`,
    );
    return false;
  }
}

/**
 * Builds the console in a separate process. The service does not wait for it, and the build ends with
 * the service, however that ends. A failure is printed in one line and shown at `/console`.
 */
export function buildConsoleBehind(root = PROJECT_ROOT) {
  const child = spawn(process.execPath, [join(root, 'scripts', 'console.mjs'), 'behind'], {
    cwd: root,
    // A separate process group, so that it can end its npm and Vite, and Ctrl-C reaches only the service.
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  const fail = (what) => {
    console.error(`The console could not be built: ${what}. The service runs without it.`);
    try {
      writeConsoleState(root, { problem: what });
    } catch {
      // The line above is all that can be said.
    }
  };
  child.once('error', (error) => fail(error.message));
  // The build reports its own failures.
  child.once('exit', (_, signal) => signal && fail(`its build was ended by ${signal}`));
}
