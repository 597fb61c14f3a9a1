import { describe, expect, it } from '@jest/globals';
import { visit, waitForData } from '../support/console/visit.js';
import { actorsOf, waitForToast, type Stage } from './scene.js';

/** What a tenant's own people do. */
export function describeTenantsWork(stage: () => Stage, isLong: boolean): void {
  const { as } = actorsOf(stage);

  describe('An owner', () => {
    it('makes a key, which is shown once and calls models', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/keys', 'Keys');
        await page.getByRole('button', { name: 'New key' }).click();
        const name = `suite ${Date.now()}`;
        await page.getByRole('dialog').getByLabel('Name').fill(name);
        await page.getByRole('button', { name: 'Make the key' }).click();
        const key = await page.getByLabel('The new key').innerText();
        expect((await call(system.url, key)).status).toBe(200);
        await page.getByRole('button', { name: 'Done' }).click();
        await page.getByRole('row').filter({ hasText: name }).waitFor();
        expect(await page.content()).not.toContain(key);
        await page.reload();
        await waitForData(page, 'Keys');
        expect(await page.content()).not.toContain(key);
        expect(window.faults).toEqual([]);
      }));

    it('sees a request as soon as it has ended, and what became of it', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/requests?live=1', 'Requests');
        const user = `user-${Date.now()}`;
        expect((await call(system.url, system.acme.routingKey, user)).status).toBe(200);
        const row = page.getByRole('row').filter({ hasText: user });
        await row.waitFor();
        await row.getByRole('button').click();
        const drawer = page.getByRole('dialog');
        await drawer.getByRole('heading', { name: 'Calls to vendors' }).waitFor();
        await drawer.getByText(user).first().waitFor();
        await page.waitForURL(/open=/);
        await page.keyboard.press('Escape');
        await drawer.waitFor({ state: 'detached' });
        expect(window.faults).toEqual([]);
      }));

    if (!isLong) return;

    it('filters requests by the address, and finds them so after a reload', () =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(window.page, '/requests?status=error', 'Requests');
        await page.getByRole('table').first().waitFor();
        expect(await page.locator('main tbody .tone-good').count()).toBe(0);
        const filters = page.getByRole('search');
        await filters.getByLabel('Provider').selectOption('openai');
        await page.waitForURL(/provider=openai/);
        await page.reload();
        await waitForData(page, 'Requests');
        expect(await filters.getByLabel('Provider').inputValue()).toBe('openai');
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.locator('main tbody tr:nth-child(51)').waitFor();
        await page.getByRole('button', { name: 'Clear filters' }).click();
        await page.waitForURL((url) => url.search === '');
        expect(window.faults).toEqual([]);
      }));

    it('sets a limit of its own, and takes it back', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/keys?tab=limits', 'Keys');
        for (const [rate, stored] of [
          ['54321', 54_321],
          ['50000', 50_000],
        ] as const) {
          await page.getByRole('button', { name: 'Change' }).first().click();
          await page
            .getByRole('dialog')
            .getByLabel(/^(Requests|Calls) a minute/)
            .fill(rate);
          await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
          await waitForToast(page, 'The limits hold');
          const answer = await fetch(`${system.url}/v1/customer/limits`, {
            headers: { authorization: `Bearer ${system.acme.managementKey}` },
          });
          expect(await answer.json()).toMatchObject({ limits: { requests_per_minute: stored } });
        }
        expect(window.faults).toEqual([]);
      }));
  });

  describe('A newcomer', () => {
    it('is told what to do first', () =>
      as('newcomer', async (window) => {
        await visit(window.page, '/', 'Overview');
        await window.page.locator('main a[href^="/console/welcome"]').first().waitFor();
        await visit(window.page, '/requests', 'Requests');
        await window.page.getByText('No requests yet').waitFor();
        expect(window.faults).toEqual([]);
      }));
  });
}

/** A call of a model, as an application makes it. */
function call(url: string, key: string, user = 'suite'): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'sandbox/echo', user },
      messages: [{ role: 'user', content: 'Hello!' }],
    }),
  });
}
