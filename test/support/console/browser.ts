import { describe } from '@jest/globals';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser of `CHROMIUM`, else one that is on the PATH; none is ever downloaded. */
const executablePath =
  process.env.CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));

/** Left out, and told so by Jest, where there is no browser. */
export const describeWithBrowser = executablePath === undefined ? describe.skip : describe;

/** Without a window; it ends with `close`. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      // A container has no other user, and little shared memory.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-dev-shm-usage',
      // A page is looked at for less time than its code would take to be made quick.
      '--js-flags=--no-opt',
    ],
  });
}
