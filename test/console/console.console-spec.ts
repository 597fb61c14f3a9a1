import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Browser, Page, Request } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/console/browser.js';
import {
  ROLES,
  startConsoleSystem,
  type ConsoleRole,
  type ConsoleSystem,
} from '../support/console/console-system.js';
import {
  axeFaultsIn,
  isAborted,
  openWindow,
  overflowAtNarrow,
  unreachableByTab,
  visit,
  waitForData,
  type Visit,
} from '../support/console/visit.js';
import { until } from '../support/until.js';
import { wrongFigures } from './figures.js';
import { describeFlows } from './flows.js';
import { describeFreshClone } from './fresh-clone.js';
import { CONSOLE_PAGES, PAGES_THERE, PATHS } from './pages.js';
import { pictureName, takePictures } from './pictures.js';

/** Verbs on buttons that change something, which viewers must not see. */
const CHANGES =
  /\b(new|create|make|add|invite|edit|change|revoke|remove|delete|pause|resume|grant|correct|rotate|suspend|roll back|enable|disable|save|cancel)\b/i;
/** Set by `npm run console:check`, which visits every page as every role and limits its load time. */
const IS_LONG = process.env.CONSOLE_LONG !== undefined;
/** Axe context without the shell; the document's title and language are still checked. */
const WITHIN_FRAME = `{ exclude: ['.shell-head', '.shell-menu'] }`;
/** Limit for loading all data of a page. */
const LIMIT_MS = 1_000;
/** Attempts per page, since a busy machine may stall. */
const CHANCES = 3;
const START_LIMIT_MS = 1_500_000;
const WALK_LIMIT_MS = 600_000;

describeWithBrowser('The console', () => {
  let browser: Browser;
  let system: ConsoleSystem;
  /** Shared by tests that restore its state, since opening a window takes as long as a page visit. */
  let shared: Visit | undefined;
  let loggedIn: ConsoleRole | undefined;
  const times: string[] = [];

  beforeAll(async () => {
    [browser, system] = await Promise.all([launchBrowser(), startConsoleSystem()]);
  }, START_LIMIT_MS);
  afterAll(async () => {
    if (times.length > 0) process.stdout.write(`${times.sort().reverse().join('\n')}\n`);
    await browser?.close();
    await system?.close();
  });

  it('lists every page in the table and in the documentation', () => {
    const known = CONSOLE_PAGES.map(({ path }) => path);
    expect(PATHS.filter((path) => !known.includes(path))).toEqual([]);
    const shown = readFileSync('docs/console/README.md', 'utf8');
    const hasPictures = (path: string): boolean => shown.includes(`"${pictureName(path)}-light.`);
    expect(PATHS.filter((path) => !hasPictures(path))).toEqual([]);
  });

  it.each(ROLES)(
    'shows the %s its pages without errors, and a viewer no actions',
    (role) =>
      inSharedWindow(role, async (window) => {
        const { page, faults } = window;
        const allowed = PAGES_THERE.filter(
          ({ path, roles }) => roles.includes(role) && !path.includes('$'),
        );
        await visit(window.page, '/', 'Overview');
        const paths = await page.evaluate<string[]>(
          `[...document.querySelectorAll('nav a')].map((link) => link.getAttribute('href'))`,
        );
        expect(paths.toSorted()).toEqual(
          allowed
            .filter(({ path }) => path !== '/welcome')
            .map(({ path }) => `/console${path}`)
            .toSorted(),
        );
        for (const { path, heading } of allowed) {
          if (path === '/welcome') continue;
          await page.locator(`nav a[href="/console${path}"]`).click();
          await waitForData(page, heading);
          if (role === 'viewer') expect(await changesOn(page)).toEqual([]);
        }
        for (const { path, at, heading, roles } of PAGES_THERE) {
          // The menu does not link these.
          const isLinked = !path.includes('$') && path !== '/welcome';
          if (role !== 'viewer' || !roles.includes(role) || isLinked) continue;
          await visit(page, system.address(at ?? path), heading);
          expect(await changesOn(page)).toEqual([]);
        }
        const forbidden = PAGES_THERE.find(
          ({ path, roles }) => !roles.includes(role) && !path.includes('$'),
        );
        if (forbidden) await visit(window.page, system.address(forbidden.path), 'Access denied');
        expect(faults).toEqual([]);
      }),
    WALK_LIMIT_MS,
  );

  describe.each(PAGES_THERE)('$path', (entry) => {
    const address = (): string => system.address(entry.at ?? entry.path);

    it('shows the figures of the ledger, is accessible and fits into 390 px', () =>
      inSharedWindow(entry.roles[0], async (window) => {
        const { page, faults } = window;
        await visit(window.page, address(), entry.heading);
        expect(await wrongFigures(page, entry.figures ?? [], system.query, system.acme.id)).toEqual(
          [],
        );
        // The shell is the same on every page.
        const isFrameKnown = !IS_LONG && entry.path !== '/';
        expect(await faultsOfLook(page, isFrameKnown ? WITHIN_FRAME : undefined)).toEqual([]);
        expect(faults).toEqual([]);
        await takePictures(page, entry.path);
      }));

    if (!IS_LONG) return;

    it.each(entry.roles)('loads within a second for the %s', (role) =>
      as(role, async (window) => {
        let ms = Infinity;
        for (let chance = 0; chance < CHANCES && ms > LIMIT_MS; chance++) {
          ms = Math.min(ms, await visit(window.page, address(), entry.heading));
        }
        times.push(`${ms.toFixed(0).padStart(6)} ms  ${address()} as ${role}`);
        expect(window.faults).toEqual([]);
        expect(ms).toBeLessThan(LIMIT_MS);
      }),
    );

    it('works with the keyboard alone, and without errors on its other tabs', () =>
      as(entry.roles[0]!, async ({ page, faults }) => {
        await visit(page, address(), entry.heading);
        expect(await unreachableByTab(page)).toEqual([]);
        for (const name of await page.getByRole('tab', { selected: false }).allInnerTexts()) {
          await page.getByRole('tab', { name, exact: true }).click();
          await waitForData(page, entry.heading);
          expect({ name, faults: await faultsOfLook(page) }).toEqual({ name, faults: [] });
        }
        expect(faults).toEqual([]);
      }));

    it('aborts its requests on leave', () =>
      as(entry.roles[0]!, async ({ page }) => {
        expect(await requestsLeftBehind(page, address())).toEqual([]);
      }));

    // A newcomer has no request to open, regardless of the role.
    const others = entry.at?.endsWith('$request')
      ? []
      : ROLES.filter((role) => !entry.roles.includes(role));
    if (others.length === 0) return;
    it.each(others)('is denied to the %s', (role) =>
      as(role, async (window) => {
        await visit(window.page, address(), 'Access denied');
        expect(window.faults).toEqual([]);
      }),
    );
  });

  describeFlows(() => ({ system, inSharedWindow }), IS_LONG);

  async function as(role: ConsoleRole, run: (window: Visit) => Promise<void>): Promise<void> {
    const window = await openWindow((await windowOf(role)).page.context());
    try {
      await run(window);
    } finally {
      await window.close();
    }
  }

  /**
   * Runs in the shared window, logged in as a role or logged out. Clears its storage afterwards. A failed run
   * discards the window.
   */
  async function inSharedWindow(
    role: ConsoleRole | undefined,
    run: (window: Visit) => Promise<void>,
  ) {
    const window = await windowOf(role);
    shared = undefined;
    window.faults.length = 0;
    await run(window);
    await window.page.unrouteAll();
    await window.page.evaluate('localStorage.clear(); sessionStorage.clear()');
    shared = window;
  }

  async function windowOf(role: ConsoleRole | undefined): Promise<Visit> {
    const isNew = shared === undefined;
    shared ??= await openWindow(await system.openContext(browser));
    if (isNew || role === undefined || role !== loggedIn) {
      // The open page would keep sending requests with the previous session.
      await shared.page.goto('about:blank');
      await system.logIn(shared.page.context(), role);
      loggedIn = role;
    }
    return shared;
  }
});

if (process.env.CONSOLE_CLONE !== undefined) describeFreshClone();

/** Returns the labels of buttons and links on the page that change something. */
async function changesOn(page: Page): Promise<string[]> {
  const names = await page.locator('main button:not(.row-button), main a.button').allInnerTexts();
  return names.filter((name) => CHANGES.test(name));
}

/** Returns accessibility violations and overflowing elements. */
async function faultsOfLook(page: Page, context?: string): Promise<string[]> {
  return [
    ...(await axeFaultsIn(page, IS_LONG ? ['dark', 'light'] : ['light'], context)),
    ...(await overflowAtNarrow(page)),
  ];
}

/** Leaves a page whose requests never complete, and returns the URLs of those that are not aborted. */
async function requestsLeftBehind(page: Page, path: string): Promise<string[]> {
  const requests: Request[] = [];
  await page.route(/\/v1\/(?!auth\/)/, (route) => {
    requests.push(route.request());
  });
  await page.goto(`/console${path}`);
  await until(() => requests.length > 0, 3_000).catch(() => undefined);
  const pending = [...requests];
  await page.locator(`nav a:not([aria-current])`).first().click();
  await until(() => pending.every((request) => isAborted(request)), 5_000).catch(() => undefined);
  return pending.filter((request) => !isAborted(request)).map((request) => request.url());
}
