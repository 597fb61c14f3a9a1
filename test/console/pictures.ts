import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { WIDE } from '../support/console/visit.js';

const FOLDER = 'docs/console';
const FORMS = [
  ['light', WIDE, 'light'],
  ['dark', WIDE, 'dark'],
  ['narrow', { width: 390, height: 844 }, 'light'],
] as const;
/** Time for charts to redraw and toasts to disappear. */
const SETTLED_AFTER_MS = 500;
/** Keeps text sharp at a third of the size of a PNG. */
const QUALITY = 80;

/** Takes light, dark and narrow screenshots of the page if `CONSOLE_PICTURES` is set. */
export async function takePictures(page: Page, path: string): Promise<void> {
  if (process.env.CONSOLE_PICTURES === undefined) return;
  await mkdir(FOLDER, { recursive: true });
  const session = await page.context().newCDPSession(page);
  for (const [form, size, colorScheme] of FORMS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(SETTLED_AFTER_MS);
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'webp',
      quality: QUALITY,
    });
    await writeFile(join(FOLDER, `${pictureName(path)}-${form}.webp`), data, 'base64');
  }
  await session.detach();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(WIDE);
}

/** Returns the base name of a page's screenshots. */
export function pictureName(path: string): string {
  return path === '/' ? 'overview' : path.slice(1).replaceAll(/[/$]+/g, '-');
}
