import type { BrowserContext, Page } from 'playwright-core';
import type { ConsoleRole, ConsoleSystem } from '../support/console/console-system.js';
import type { Visit } from '../support/console/visit.js';

/** The system and window that flows run in. */
export interface Stage {
  system: ConsoleSystem;
  /** Runs in a shared window with a warm cache, logged out without a role. */
  inSharedWindow: (
    role: ConsoleRole | undefined,
    run: (window: Visit) => Promise<void>,
  ) => Promise<void>;
}

type RoleScene = (window: Visit, system: ConsoleSystem) => Promise<void>;
type Scene = (window: Visit, system: ConsoleSystem, context: BrowserContext) => Promise<unknown>;

/** Returns functions that run a flow with a role, or logged out. */
export function actorsOf(stage: () => Stage): {
  as: (role: ConsoleRole, play: RoleScene) => Promise<void>;
  asAnonymous: (path: string, play: Scene) => Promise<void>;
} {
  return {
    as: (role, play) => stage().inSharedWindow(role, (window) => play(window, stage().system)),
    asAnonymous: (path, play) =>
      stage().inSharedWindow(undefined, async (window) => {
        await window.page.goto(`/console${path}`);
        await play(window, stage().system, window.page.context());
      }),
  };
}

/** Logs in with an API key. */
export async function logInByKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Waits for the shell of a logged-in person. */
export async function waitForLogin(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account/ }).waitFor();
}

/** Waits for a toast with the text. */
export async function waitForToast(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.toast').filter({ hasText: text }).first().waitFor();
}
