import { describe } from '@jest/globals';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser named by `CHROMIUM` or found on the PATH; none is downloaded. */
const executablePath =
  process.env.CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));

/** Skipped where there is no browser. */
export const describeWithBrowser = executablePath === undefined ? describe.skip : describe;

/** Launches a headless browser; `close` ends it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      // Containers run as root, with little shared memory.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-dev-shm-usage',
      // Pages are not open long enough for optimization to pay off.
      '--js-flags=--no-opt',
    ],
  });
}
