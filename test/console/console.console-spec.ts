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

/** Words on buttons that change something, which a viewer does not see. */
const CHANGES =
  /\b(new|create|make|add|invite|edit|change|revoke|remove|delete|pause|resume|grant|rotate|suspend|save|cancel)\b/i;
/** With `npm run console:check` each page is looked at by each role, and its time is held to. */
const IS_LONG = process.env.CONSOLE_LONG !== undefined;
/** For axe, which still looks at the document's title and language. */
const WITHIN_FRAME = `{ exclude: ['.shell-head', '.shell-menu'] }`;
/** Until all data of a page is there. */
const LIMIT_MS = 1_000;
/** A machine stands still at times. */
const CHANCES = 3;
const START_LIMIT_MS = 1_500_000;
const WALK_LIMIT_MS = 600_000;

describeWithBrowser('The console', () => {
  let browser: Browser;
  let system: ConsoleSystem;
  /** One for all who leave it as it was: to open one takes as long as to look at a page. */
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

  it('has a line in the table and pictures in the documentation for each of its pages', () => {
    const known = CONSOLE_PAGES.map(({ path }) => path);
    expect(PATHS.filter((path) => !known.includes(path))).toEqual([]);
    const shown = readFileSync('docs/console/README.md', 'utf8');
    const hasPictures = (path: string): boolean => shown.includes(`"${pictureName(path)}-light.`);
    expect(PATHS.filter((path) => !hasPictures(path))).toEqual([]);
  });

  it.each(ROLES)(
    'offers the %s what the role may see, opens it without a fault, and offers a viewer nothing that changes anything',
    (role) =>
      asBefore(role, async (window) => {
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
          // Nothing above leads to these.
          const isLinked = !path.includes('$') && path !== '/welcome';
          if (role !== 'viewer' || !roles.includes(role) || isLinked) continue;
          await visit(page, system.address(at ?? path), heading);
          expect(await changesOn(page)).toEqual([]);
        }
        const forbidden = PAGES_THERE.find(
          ({ path, roles }) => !roles.includes(role) && !path.includes('$'),
        );
        if (forbidden)
          await visit(window.page, system.address(forbidden.path), 'Not for your role');
        expect(faults).toEqual([]);
      }),
    WALK_LIMIT_MS,
  );

  describe.each(PAGES_THERE)('$path', (entry) => {
    const address = (): string => system.address(entry.at ?? entry.path);

    it('shows what the ledger says, is accessible, and fits into 390 px', () =>
      asBefore(entry.roles[0], async (window) => {
        const { page, faults } = window;
        await visit(window.page, address(), entry.heading);
        expect(await wrongFigures(page, entry.figures ?? [], system.query, system.acme.id)).toEqual(
          [],
        );
        // The frame is the same around all.
        const isFrameKnown = !IS_LONG && entry.path !== '/';
        expect(await faultsOfLook(page, isFrameKnown ? WITHIN_FRAME : undefined)).toEqual([]);
        expect(faults).toEqual([]);
        await takePictures(page, entry.path);
      }));

    if (!IS_LONG) return;

    it.each(entry.roles)('is there within a second for the %s', (role) =>
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

    it('can be used with the keyboard alone, and has no fault in its other parts', () =>
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

    it('takes its requests back when it is left', () =>
      as(entry.roles[0]!, async ({ page }) => {
        expect(await requestsLeftBehind(page, address())).toEqual([]);
      }));

    // What a newcomer does not have is not there, which is no matter of roles.
    const others = entry.at?.endsWith('$request')
      ? []
      : ROLES.filter((role) => !entry.roles.includes(role));
    if (others.length === 0) return;
    it.each(others)('is not opened for the %s', (role) =>
      as(role, async (window) => {
        await visit(window.page, address(), 'Not for your role');
        expect(window.faults).toEqual([]);
      }),
    );
  });

  describeFlows(() => ({ system, asBefore }), IS_LONG);

  async function as(role: ConsoleRole, look: (window: Visit) => Promise<void>): Promise<void> {
    const window = await openWindow((await windowOf(role)).page.context());
    try {
      await look(window);
    } finally {
      await window.close();
    }
  }

  /**
   * The same, or nobody who is known, in the window that was used so before, which is not used again where
   * something went wrong. What a browser keeps of one look is not there at the next.
   */
  async function asBefore(role: ConsoleRole | undefined, look: (window: Visit) => Promise<void>) {
    const window = await windowOf(role);
    shared = undefined;
    window.faults.length = 0;
    await look(window);
    await window.page.unrouteAll();
    await window.page.evaluate('localStorage.clear(); sessionStorage.clear()');
    shared = window;
  }

  async function windowOf(role: ConsoleRole | undefined): Promise<Visit> {
    const isNew = shared === undefined;
    shared ??= await openWindow(await system.openContext(browser));
    if (isNew || role === undefined || role !== loggedIn) {
      // What is open still asks as whoever was there before.
      await shared.page.goto('about:blank');
      await system.logIn(shared.page.context(), role);
      loggedIn = role;
    }
    return shared;
  }
});

if (process.env.CONSOLE_CLONE !== undefined) describeFreshClone();

/** Buttons and links on the page that look as if they changed something. */
async function changesOn(page: Page): Promise<string[]> {
  const names = await page.locator('main button:not(.row-button), main a.button').allInnerTexts();
  return names.filter((name) => CHANGES.test(name));
}

/** What axe finds, and what does not fit. */
async function faultsOfLook(page: Page, context?: string): Promise<string[]> {
  return [
    ...(await axeFaultsIn(page, IS_LONG ? ['dark', 'light'] : ['light'], context)),
    ...(await overflowAtNarrow(page)),
  ];
}

/** Goes to another page while no request of this one is answered. @returns those that are still waited for */
async function requestsLeftBehind(page: Page, path: string): Promise<string[]> {
  const asked: Request[] = [];
  await page.route(/\/v1\/(?!auth\/)/, (route) => {
    asked.push(route.request());
  });
  await page.goto(`/console${path}`);
  await until(() => asked.length > 0, 3_000).catch(() => undefined);
  const left = [...asked];
  await page.locator(`nav a:not([aria-current])`).first().click();
  await until(() => left.every((request) => isAborted(request)), 5_000).catch(() => undefined);
  return left.filter((request) => !isAborted(request)).map((request) => request.url());
}
