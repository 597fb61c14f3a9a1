import axe from 'axe-core';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page, Request } from 'playwright-core';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** For a page whose data never comes; how soon it has to come is the suite's to say. */
const DATA_LIMIT_MS = 30_000;
/** As a rule; later it is seen a little later. */
const DATA_COMES_WITHIN_MS = 2_000;
const NARROW = { width: 390, height: 844 };
export const WIDE = { width: 1280, height: 900 };
/** Of a tenth of a second each. */
const REDRAWN_WITHIN_LOOKS = 30;
/** More than any page has places to stop at. */
const MAX_TABS = 600;
const TABS_AT_ONCE = 20;

/** A page of the console that is open in a window, and what went wrong on it so far. */
export interface Visit {
  page: Page;
  /** Console errors, failed requests, errors of the API and breaches of the page's policy, in words. */
  faults: string[];
  close(): Promise<void>;
}

/** Opens an empty window that notes what goes wrong. */
export async function openWindow(context: BrowserContext): Promise<Visit> {
  const page = await context.newPage();
  await page.setViewportSize(WIDE);
  page.setDefaultTimeout(DATA_LIMIT_MS);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
  page.on('requestfailed', (request) => {
    if (!isAborted(request))
      faults.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
  });
  return { page, faults, close: () => page.close() };
}

/** A page takes its requests back when it is left. */
export function isAborted(request: Request): boolean {
  return request.failure()?.errorText === 'net::ERR_ABORTED';
}

/**
 * Goes to a path below /console, and waits until its heading and all of its data are there.
 *
 * @returns milliseconds from the beginning
 */
export async function visit(page: Page, path: string, heading: string | RegExp): Promise<number> {
  const startMs = performance.now();
  await page.goto(`/console${path}`, { waitUntil: 'commit' });
  await waitForData(page, heading);
  return performance.now() - startMs;
}

/** Until a page's heading is there, and nothing on it is still being read. */
export async function waitForData(page: Page, heading: string | RegExp): Promise<void> {
  await seeDataCome(page, heading);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  await page
    .locator('[data-skeleton], main [aria-busy="true"]')
    .first()
    .waitFor({ state: 'detached' });
}

/**
 * The same by what changes on the page, and for so long at most: Playwright, which then looks as it does for people,
 * asks anew only half a second after the first quarter.
 */
async function seeDataCome(page: Page, heading: string | RegExp): Promise<void> {
  const name =
    typeof heading === 'string'
      ? `(text) => text === ${JSON.stringify(heading)}`
      : `(text) => ${String(heading)}.test(text)`;
  await page
    .evaluate(
      `new Promise((resolve) => {
        const isNamed = ${name};
        const look = () => {
          const isThere = [...document.querySelectorAll('h1')].some((one) => isNamed(one.textContent.trim()));
          if (!isThere || document.querySelector('[data-skeleton], main [aria-busy="true"]')) return;
          observer.disconnect();
          resolve();
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
        setTimeout(resolve, ${DATA_COMES_WITHIN_MS});
        look();
      })`,
    )
    // The page that it was on has been left.
    .catch(() => undefined);
}

/**
 * What axe finds against WCAG 2.2 AA, a line each. By the browser's own console, which the page's policy does
 * not bind.
 */
export async function axeFaults(page: Page, context = 'document'): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const evaluate = (expression: string) =>
      session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    await evaluate(axe.source);
    const options = JSON.stringify({ runOnly: WCAG, resultTypes: ['violations'] });
    const { result, exceptionDetails } = await evaluate(`axe.run(${context}, ${options})`);
    if (exceptionDetails) throw new Error(`axe failed: ${exceptionDetails.text}`);
    const { violations } = result.value as AxeResults;
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) =>
          `${id}: ${help}: ${target.join(' ')} (${failureSummary?.replaceAll('\n', ' ')})`,
      ),
    );
  } finally {
    await session.detach();
  }
}

/** The same with each of these colours. */
export async function axeFaultsIn(
  page: Page,
  colours: readonly ('light' | 'dark')[],
  context?: string,
): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of colours) {
    await page.emulateMedia({ colorScheme });
    faults.push(...(await axeFaults(page, context)).map((fault) => `${colorScheme}: ${fault}`));
  }
  await page.emulateMedia({ colorScheme: 'light' });
  return faults;
}

/** What does not fit into 390 px, if the page has to be scrolled sideways there. Charts are drawn anew first. */
export async function overflowAtNarrow(page: Page): Promise<string[]> {
  await page.setViewportSize(NARROW);
  let found = await tooWide(page);
  for (let looks = 0; found.length > 0 && looks < REDRAWN_WITHIN_LOOKS; looks++) {
    await page.waitForTimeout(100);
    found = await tooWide(page);
  }
  await page.setViewportSize(WIDE);
  return found;
}

function tooWide(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const isFramed = (element) => {
      for (let frame = element.parentElement; frame; frame = frame.parentElement) {
        if (getComputedStyle(frame).overflowX !== 'visible') return true;
      }
      return false;
    };
    const found = [...document.querySelectorAll('main *, header *')]
      .filter((element) => element.getBoundingClientRect().right > width + 1 && !isFramed(element))
      .map((element) => element.tagName.toLowerCase() + '.' + element.className);
    return ['wider than ' + width + ' px: ' + found.slice(0, 5).join(', ')];
  })()`);
}

/** Presses Tab until all was reached. @returns what can be focused and was not */
export async function unreachableByTab(page: Page): Promise<string[]> {
  await page.evaluate(`(() => {
    [...document.querySelectorAll('a[href], button, summary, input:not([type=radio]), select, textarea, [tabindex="0"]')]
      .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility())
      .forEach((element) => element.setAttribute('data-to-reach', ''));
    document.addEventListener('focusin', ({ target }) => target.removeAttribute('data-to-reach'));
    document.activeElement?.blur();
  })()`);
  const left = page.locator('[data-to-reach]');
  // Some controls have several stops, as a date has.
  for (let tabs = 0; tabs < MAX_TABS && (await left.count()) > 0; tabs += TABS_AT_ONCE) {
    for (let tab = 0; tab < TABS_AT_ONCE; tab++) await page.keyboard.press('Tab');
  }
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('[data-to-reach]')].map((element) => element.outerHTML.slice(0, 120))`,
  );
}
