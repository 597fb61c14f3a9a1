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
/** Charts are drawn anew, and notes go away. */
const SETTLED_AFTER_MS = 500;
/** Text is still sharp, in a third of the bytes of a PNG. */
const QUALITY = 80;

/** The page as it is on the screen, in light, dark and narrow; only where `CONSOLE_PICTURES` asks for it. */
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

/** What the pictures of a page are called. */
export function pictureName(path: string): string {
  return path === '/' ? 'overview' : path.slice(1).replaceAll(/[/$]+/g, '-');
}
