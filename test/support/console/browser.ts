import { describe } from '@jest/globals';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser in `CHROMIUM` or on the PATH; never downloaded. */
const executablePath =
  process.env.CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));

/** Skips the suite, visibly, when there is no browser. */
export const describeWithBrowser = executablePath === undefined ? describe.skip : describe;

/** Launches a headless browser. Close it with `close`. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      // Containers run as root, with little shared memory.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-dev-shm-usage',
      // Pages are visited too briefly for optimized code to pay off.
      '--js-flags=--no-opt',
    ],
  });
}
