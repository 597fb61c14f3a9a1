import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { ConsoleRole, ConsoleSystem } from '../support/console/console-system.js';
import { openWindow, type Visit } from '../support/console/visit.js';

/** What flows are played on. */
export interface Stage {
  browser: Browser;
  system: ConsoleSystem;
}

type Scene = (window: Visit, system: ConsoleSystem, context: BrowserContext) => Promise<unknown>;

/** Has scenes played in windows of their own: by somebody of a role, or by nobody who is known yet. */
export function actorsOf(stage: () => Stage): {
  as: (role: ConsoleRole, play: Scene) => Promise<void>;
  asStranger: (path: string, play: Scene) => Promise<void>;
} {
  const inContext = async (context: BrowserContext, path: string | undefined, play: Scene) => {
    try {
      const window = await openWindow(context);
      if (path !== undefined) await window.page.goto(path);
      await play(window, stage().system, context);
    } finally {
      await context.close();
    }
  };
  return {
    async as(role, play) {
      const { browser, system } = stage();
      await inContext(await system.logIn(browser, role), undefined, play);
    },
    async asStranger(path, play) {
      const { browser, system } = stage();
      const context = await browser.newContext({ baseURL: system.url, reducedMotion: 'reduce' });
      await inContext(context, `/console${path}`, play);
    },
  };
}

/** Fills the form and sends it. */
export async function logInByKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Until the frame of who is logged in is there. */
export async function waitForLogin(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account/ }).waitFor();
}

/** Until a note in the corner says this. */
export async function waitForToast(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.toast').filter({ hasText: text }).first().waitFor();
}
