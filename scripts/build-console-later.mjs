import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isConsoleBuilt, writeConsoleState } from './console.mjs';
import { PROJECT_ROOT } from './project-root.mjs';

/**
 * To be called before the service starts, which is not to wait for the console: says at `/console`
 * that it is to come. Answers whether there is anything to build.
 */
export function announceConsole(root = PROJECT_ROOT) {
  const isWanted = process.env.GATEWAY_CONSOLE !== 'off';
  if (!isWanted || !existsSync(join(root, 'console', 'package.json')) || isConsoleBuilt(root)) {
    return false;
  }
  try {
    writeConsoleState(root, { step: 'the service starts first' });
    return true;
  } catch (error) {
    console.error(
      `The console is not built, as nothing can be written here (${error.code}); npm run build:console builds it for whoever can.`,
    );
    return false;
  }
}

/**
 * Builds the console in a process of its own, which the service neither waits for nor ends with: it
 * ends with the service, however that ends. What went wrong is a line, and stands at `/console`.
 */
export function buildConsoleBehind(root = PROJECT_ROOT) {
  const child = spawn(process.execPath, [join(root, 'scripts', 'console.mjs'), 'behind'], {
    cwd: root,
    // A group of its own: it ends its npm and its Vite along with itself. Ctrl-C is the service's.
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
  // It tells of its own failures itself.
  child.once('exit', (_, signal) => signal && fail(`its build was ended by ${signal}`));
}
