import { describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { axeFaults, unreachableByTab, visit, waitForData } from '../support/console/visit.js';
import { takePictures } from './pictures.js';
import { actorsOf, logInByKey, waitForLogin, type Stage } from './scene.js';
import { describeOperatorsWork } from './operators-work.js';
import { describeTenantsWork } from './tenants-work.js';

/**
 * Tests interactions with the console.
 *
 * @param isLong includes the flows of single pages
 */
export function describeFlows(stage: () => Stage, isLong: boolean): void {
  const { as, asAnonymous } = actorsOf(stage);

  describe('Logging in', () => {
    it('accepts a key, rejects a wrong one and opens the requested page', () =>
      asAnonymous('/requests?status=error', async ({ page }, system) => {
        await page.waitForURL(/\/console\/login/);
        await page.getByLabel('Key').waitFor();
        await takePictures(page, '/login');
        await logInByKey(page, 'sk-mgmt-unknown');
        await page.getByText(/key/i).and(page.getByRole('alert')).first().waitFor();
        expect(await axeFaults(page)).toEqual([]);
        await logInByKey(page, system.acme.managementKey);
        await page.waitForURL(/\/console\/requests\?status=error/);
        await waitForData(page, 'Requests');
        await page.getByRole('button', { name: /^Account/ }).click();
        await page.getByRole('menuitem', { name: 'Log out' }).click();
        await page.waitForURL(/\/console\/login/);
        await page.goto('/console/requests');
        await page.waitForURL(/\/console\/login/);
      }));

    it('accepts an operator key', () =>
      asAnonymous('/', async ({ page }, system) => {
        await logInByKey(page, system.adminKey);
        await waitForLogin(page);
        await visit(page, '/fleet', 'Fleet');
      }));

    it('accepts a one-time link once', async () => {
      const { system } = stage();
      const token = randomBytes(32).toString('base64url');
      await system.query(
        `INSERT INTO login_links (token_hash, expires_at) VALUES (decode($1, 'hex'), now() + interval '10 minutes')`,
        [createHash('sha256').update(token).digest('hex')],
      );
      for (const isGood of [true, false]) {
        await asAnonymous(`/login#link=${token}`, async ({ page }) => {
          if (isGood) await waitForLogin(page);
          else await page.getByRole('alert').filter({ hasText: /link/i }).waitFor();
          expect(page.url()).not.toContain(token);
        });
      }
    });

    it('returns to the page after the session expired', () =>
      asAnonymous('/login', async ({ page }, system, context) => {
        const key = system.acme.managementKey;
        await logInByKey(page, key);
        await waitForLogin(page);
        const session = (await context.cookies()).find(({ name }) => name === 'gateway_session');
        const hash = createHash('sha256').update(session!.value).digest('hex');
        await visit(page, '/', 'Overview');
        await system.query(
          `UPDATE sessions SET revoked_at = now() WHERE encode(token_hash, 'hex') = $1`,
          [hash],
        );
        // Instances cache sessions for up to a second.
        await page.waitForTimeout(1_500);
        await page.getByLabel('Time range').selectOption('7');
        await logInByKey(page, key);
        await page.waitForURL(/\/console\/\?days=7/);
      }));
  });

  describe('Everywhere', () => {
    it('keeps filters over a reload and supports the back button', () =>
      as('owner', async ({ page }) => {
        await visit(page, '/', 'Overview');
        await page.getByLabel('Time range').selectOption('90');
        await page.waitForURL(/days=90/);
        await page.reload();
        await waitForData(page, 'Overview');
        expect(await page.getByLabel('Time range').inputValue()).toBe('90');
        await page.getByRole('link', { name: 'Model Gateway' }).click();
        await page.waitForURL(/\/console\/?$/);
        await page.goBack();
        await page.waitForURL(/days=90/);
      }));

    it('opens the command palette with Ctrl+K, restores the focus on Escape and opens pages', () =>
      as('owner', async ({ page }) => {
        await visit(page, '/', 'Overview');
        await page.getByLabel('Time range').focus();
        await page.keyboard.press('Control+k');
        await page.getByRole('dialog').waitFor();
        expect(await axeFaults(page, `document.querySelector('[role=dialog]')`)).toEqual([]);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await page.locator('select:focus').waitFor();
        await page.keyboard.press('Control+k');
        await page.getByRole('dialog').waitFor();
        await page.keyboard.type('models');
        await page.keyboard.press('Enter');
        await waitForData(page, 'Models');
        await page.keyboard.press('/');
        await page.locator('input[type=search]:focus').waitFor();
      }));

    it('keeps the selected theme', () =>
      as('viewer', async ({ page }) => {
        await visit(page, '/models', 'Models');
        await page.getByRole('button', { name: /^Account/ }).click();
        await page.getByRole('menuitemradio', { name: 'Dark' }).click();
        await page.reload();
        await waitForData(page, 'Models');
        await page.locator('html[data-theme=dark]').waitFor();
      }));

    it('works with the keyboard alone', () =>
      as('owner', async ({ page }) => {
        await visit(page, '/', 'Overview');
        expect(await unreachableByTab(page)).toEqual([]);
      }));

    it.each(isLong ? [500, 503, 429] : [503])('shows a %i and loads the data on retry', (status) =>
      as('owner', async ({ page }) => {
        const body = { error: { message: 'Not now.', type: 'x', code: status, param: null } };
        await page.route('**/v1/customer/analytics*', (route) =>
          route.fulfill({ status, json: body, headers: { 'retry-after': '1' } }),
        );
        await page.goto('/console/');
        await page.getByRole('alert').first().getByText('Not now.').waitFor();
        expect(await axeFaults(page)).toEqual([]);
        await page.unroute('**/v1/customer/analytics*');
        while ((await page.getByRole('button', { name: 'Try again' }).count()) > 0) {
          await page.getByRole('button', { name: 'Try again' }).first().click();
          await page.waitForTimeout(100);
        }
        await waitForData(page, 'Overview');
      }),
    );

    it('reports an unreachable gateway', () =>
      as('owner', async ({ page }) => {
        await visit(page, '/', 'Overview');
        await page.route('**/v1/customer/**', (route) => route.abort('connectionrefused'));
        await page.locator('nav a[href="/console/keys"]').click();
        await page.getByRole('alert').getByText('The gateway is unreachable').first().waitFor();
        await page.unroute('**/v1/customer/**');
        await page.getByRole('button', { name: 'Try again' }).first().click();
        await page.getByRole('table').first().waitFor();
      }));
  });

  describeOperatorsWork(stage, isLong);
  describeTenantsWork(stage, isLong);
}
