import axe from 'axe-core';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page, Request } from 'playwright-core';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** Limit for a page whose data never arrives. Suites define their own, shorter limits. */
const DATA_LIMIT_MS = 30_000;
/** Usual limit. Later data is noticed with a delay. */
const DATA_COMES_WITHIN_MS = 2_000;
const NARROW = { width: 390, height: 844 };
export const WIDE = { width: 1280, height: 900 };
/** In checks of a tenth of a second each. */
const REDRAWN_WITHIN_LOOKS = 30;
/** More than the number of tab stops of any page. */
const MAX_TABS = 600;
const TABS_AT_ONCE = 20;

/** An open page of the console and the faults on it so far. */
export interface Visit {
  page: Page;
  /** Console errors, failed requests, API errors and violations of the content security policy. */
  faults: string[];
  close(): Promise<void>;
}

/** Opens an empty page that records faults. */
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

/** Leaving a page aborts its requests. */
export function isAborted(request: Request): boolean {
  return request.failure()?.errorText === 'net::ERR_ABORTED';
}

/**
 * Opens a path below /console and waits for its heading and all data.
 *
 * @returns milliseconds from the start
 */
export async function visit(page: Page, path: string, heading: string | RegExp): Promise<number> {
  const startMs = performance.now();
  await page.goto(`/console${path}`, { waitUntil: 'commit' });
  await waitForData(page, heading);
  return performance.now() - startMs;
}

/** Waits until a page's heading is present and no data is loading. */
export async function waitForData(page: Page, heading: string | RegExp): Promise<void> {
  await seeDataCome(page, heading);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  await page
    .locator('[data-skeleton], main [aria-busy="true"]')
    .first()
    .waitFor({ state: 'detached' });
}

/**
 * Waits for data in the page itself, by its mutations. Playwright polls only every half second after the
 * first quarter.
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
 * Returns axe's violations of WCAG 2.2 AA, one line each. Uses the browser's console, which the page's
 * policy does not restrict.
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

/** Returns violations in each of these color schemes. */
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

/** Returns elements wider than 390 px that make the page scroll sideways. Charts are redrawn first. */
export async function overflowAtNarrow(page: Page): Promise<string[]> {
  await page.setViewportSize(NARROW);
  let found = await tooWide(page);
  for (let tries = 0; found.length > 0 && tries < REDRAWN_WITHIN_LOOKS; tries++) {
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

/** Presses Tab through the page. @returns focusable elements that were not reached */
export async function unreachableByTab(page: Page): Promise<string[]> {
  await page.evaluate(`(() => {
    [...document.querySelectorAll('a[href], button, summary, input:not([type=radio]), select, textarea, [tabindex="0"]')]
      .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility())
      .forEach((element) => element.setAttribute('data-to-reach', ''));
    document.addEventListener('focusin', ({ target }) => target.removeAttribute('data-to-reach'));
    document.activeElement?.blur();
  })()`);
  const left = page.locator('[data-to-reach]');
  // Some controls have several tab stops, e.g. date fields.
  for (let tabs = 0; tabs < MAX_TABS && (await left.count()) > 0; tabs += TABS_AT_ONCE) {
    for (let tab = 0; tab < TABS_AT_ONCE; tab++) await page.keyboard.press('Tab');
  }
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('[data-to-reach]')].map((element) => element.outerHTML.slice(0, 120))`,
  );
}
