import type { BrowserContext, Page } from 'playwright-core';
import type { ConsoleRole, ConsoleSystem } from '../support/console/console-system.js';
import type { Visit } from '../support/console/visit.js';

/** What flows are played on. */
export interface Stage {
  system: ConsoleSystem;
  /** Looks through the window that others have looked through, which knows the console's files; nobody is logged in without a role. */
  asBefore: (
    role: ConsoleRole | undefined,
    look: (window: Visit) => Promise<void>,
  ) => Promise<void>;
}

type RoleScene = (window: Visit, system: ConsoleSystem) => Promise<void>;
type Scene = (window: Visit, system: ConsoleSystem, context: BrowserContext) => Promise<unknown>;

/** Has scenes played: by somebody of a role, or by nobody who is known yet. */
export function actorsOf(stage: () => Stage): {
  as: (role: ConsoleRole, play: RoleScene) => Promise<void>;
  asStranger: (path: string, play: Scene) => Promise<void>;
} {
  return {
    as: (role, play) => stage().asBefore(role, (window) => play(window, stage().system)),
    asStranger: (path, play) =>
      stage().asBefore(undefined, async (window) => {
        await window.page.goto(`/console${path}`);
        await play(window, stage().system, window.page.context());
      }),
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
