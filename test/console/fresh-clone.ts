import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/console/browser.js';
import { openWindow, visit, waitForData, type Visit } from '../support/console/visit.js';
import { until } from '../support/until.js';
import { goThroughFirstSteps } from './first-steps.js';
import { PAGES_THERE } from './pages.js';
import { waitForLogin } from './scene.js';

/** Measured from `npm start`; most of it is `npm ci`. */
const LISTENS_WITHIN_MS = 60_000;
const CONSOLE_WITHIN_MS = 90_000;
/** Generous, so that on a busy machine only the budgets fail. */
const START_LIMIT_MS = 600_000;

/** Runs `npm start` in a clone of the last commit, with nothing configured but a port. */
export function describeFreshClone(): void {
  describeWithBrowser('The console of a fresh clone', () => {
    let browser: Browser;
    let folder: string;
    let service: ChildProcess;
    let window: Visit;
    let printed = '';
    const ms = { listening: Infinity, console: Infinity };

    beforeAll(async () => {
      browser = await launchBrowser();
      folder = await mkdtemp(join(tmpdir(), 'gateway-clone-'));
      await promisify(execFile)('git', ['clone', '--quiet', process.cwd(), join(folder, 'clone')]);
      const { PATH = '', HOME = '' } = process.env;
      const startMs = performance.now();
      service = spawn('npm', ['start'], {
        cwd: join(folder, 'clone'),
        // A process group, like in a terminal.
        detached: true,
        env: { PATH, HOME, PORT: '0' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [service.stdout, service.stderr]) {
        stream?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      }
      await until(() => isListening() || service.exitCode !== null, START_LIMIT_MS);
      if (!isListening()) throw new Error(`The service did not start:\n${printed}`);
      ms.listening = performance.now() - startMs;
      await until(async () => (await fetch(`${url()}/console`)).status === 200, START_LIMIT_MS);
      ms.console = performance.now() - startMs;
      process.stdout.write(
        `Fresh clone: listening after ${(ms.listening / 1_000).toFixed(1)} s, console after ${(ms.console / 1_000).toFixed(1)} s\n`,
      );
      window = await openWindow(await browser.newContext({ baseURL: url() }));
    }, 2 * START_LIMIT_MS);
    afterAll(async () => {
      await browser?.close();
      if (service?.pid !== undefined && service.exitCode === null) {
        const exited = once(service, 'exit');
        process.kill(-service.pid, 'SIGTERM');
        await exited;
      }
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    }, START_LIMIT_MS);

    it('listens within a minute and serves the console within 90 seconds', () => {
      expect(ms.listening).toBeLessThan(LISTENS_WITHIN_MS);
      expect(ms.console).toBeLessThan(CONSOLE_WITHIN_MS);
    });

    it('logs the operator in with the printed link', async () => {
      const link = /http\S+\/console\/login#link=\S+/.exec(printed)?.[0];
      expect(link).toBeDefined();
      await window.page.goto(link!);
      await waitForLogin(window.page);
    });

    it('opens all operator pages', async () => {
      for (const { path, heading, roles } of PAGES_THERE) {
        if (roles.length > 1 || path.includes('$')) continue;
        await visit(window.page, path, heading);
      }
      expect(window.faults).toEqual([]);
    });

    it('opens the empty pages of its first tenant', async () => {
      await visit(window.page, '/tenants', 'Tenants');
      await window.page.locator('main tbody a').first().click();
      await window.page.getByRole('button', { name: 'View as tenant' }).click();
      await waitForData(window.page, 'Overview');
      for (const { path, heading, roles } of PAGES_THERE) {
        if (roles.length === 1 || path.includes('$')) continue;
        await visit(window.page, path, heading);
      }
      expect(window.faults).toEqual([]);
    });

    it('completes the getting-started steps', async () => {
      await goThroughFirstSteps(window.page, url());
      expect(window.faults).toEqual([]);
    });

    function isListening(): boolean {
      return /listens on \S+/.test(printed);
    }

    function url(): string {
      return /listens on (\S+)/.exec(printed)?.[1] ?? '';
    }
  });
}
