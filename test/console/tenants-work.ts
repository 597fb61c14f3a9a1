import { describe, expect, it } from '@jest/globals';
import type { ConsoleSystem } from '../support/console/console-system.js';
import { visit, waitForData } from '../support/console/visit.js';
import { callModel, goThroughFirstSteps } from './first-steps.js';
import { actorsOf, logInByKey, waitForLogin, waitForToast, type Stage } from './scene.js';

/** What a tenant's own people do. */
export function describeTenantsWork(stage: () => Stage, isLong: boolean): void {
  const { as, asStranger } = actorsOf(stage);

  describe('An owner', () => {
    it('makes a key, which is shown once and calls models', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/keys', 'Keys');
        await page.getByRole('button', { name: 'New key' }).click();
        const name = `suite ${Date.now()}`;
        await page.getByRole('dialog').getByLabel('Name').fill(name);
        // Twice in a hurry makes one.
        await page.getByRole('button', { name: 'Make the key' }).dblclick();
        const key = await page.getByLabel('The new key').innerText();
        expect((await callModel(system.url, key)).status).toBe(200);
        await page.getByRole('button', { name: 'Done' }).click();
        await page.getByRole('row').filter({ hasText: name }).first().waitFor();
        expect(await page.getByRole('row').filter({ hasText: name }).count()).toBe(1);
        expect(await page.content()).not.toContain(key);
        await page.reload();
        await waitForData(page, 'Keys');
        expect(await page.content()).not.toContain(key);
        expect(window.faults).toEqual([]);
      }));

    it('asks anew after a refusal, without the words of before', () =>
      as('owner', async ({ page }) => {
        await visit(page, '/keys', 'Keys');
        await page.locator('.row-button').first().click();
        const ask = page.getByRole('dialog').last();
        const revoke = page.getByRole('button', { name: 'Revoke', exact: true });
        await revoke.click();
        await page.route('**/v1/customer/api-keys/*', (route) =>
          route.fulfill({ status: 503, json: { error: { message: 'Not now.' } } }),
        );
        await revoke.click();
        await ask.getByText('Not now.').waitFor();
        await ask.getByRole('button', { name: 'Cancel' }).click();
        await revoke.click();
        await ask.getByText(/stops working within a second/).waitFor();
        expect(await ask.getByText('Not now.').count()).toBe(0);
      }));

    it("tests an account of its own without what another vendor's form was given", () =>
      as('owner', async ({ page }) => {
        const path = '**/v1/customer/provider-credentials';
        const offers = ['One', 'Other'].map((name, index) => ({
          provider: name.toLowerCase(),
          name,
          key_description: 'A key.',
          settings:
            index === 0 ? [{ name: 'region', description: 'Where.', is_required: true }] : [],
        }));
        await page.route(`${path}/providers`, (route) => route.fulfill({ json: { data: offers } }));
        const tested: unknown[] = [];
        await page.route(`${path}/test`, (route) => {
          tested.push(route.request().postDataJSON());
          return route.fulfill({ json: { ok: true, message: 'It works', latency_ms: 1 } });
        });
        await visit(page, '/integrations', 'Integrations');
        await page.getByRole('button', { name: 'Add an account' }).click();
        const form = page.getByRole('dialog');
        await form.getByLabel('Provider').selectOption('one');
        await form.getByLabel('region').fill('here');
        await form.getByLabel('Provider').selectOption('other');
        await form.getByLabel('Key').fill('k');
        await form.getByRole('button', { name: 'Test' }).click();
        await form.getByText('It works').waitFor();
        expect(tested).toEqual([{ provider: 'other', key: 'k', settings: {} }]);
      }));

    it('sees a request as soon as it has ended, and what became of it', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/requests?live=1', 'Requests');
        const user = `user-${Date.now()}`;
        expect((await callModel(system.url, system.acme.routingKey, user)).status).toBe(200);
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

    it('has streams that break off gone on with, and prompts kept or not', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/keys?tab=settings', 'Keys');
        const streams = page.getByLabel('Who goes on with them');
        const recovery = async (): Promise<unknown> => {
          const headers = { authorization: `Bearer ${system.acme.routingKey}` };
          const read = await fetch(`${system.url}/v1/customer/settings`, { headers });
          return read.json();
        };
        await streams.selectOption('any');
        await waitForToast(page, 'within a second');
        expect(await recovery()).toMatchObject({ recovery: 'any' });
        await page.reload();
        await waitForData(page, 'Keys');
        expect(await streams.inputValue()).toBe('any');
        await streams.selectOption('off');
        await waitForToast(page, 'within a second');
        expect(await recovery()).toMatchObject({ recovery: 'off' });
        await page.getByLabel('Those of all keys are').waitFor();
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

    it.each([
      ['My key is sk-proj-abcdefghijklmnopqrstuvwx0123456789.', 'This would be blocked.'],
      ['Write to ada@acme.example.', 'This would pass, with a mark.'],
      ['Good morning!', 'This would pass.'],
    ])('tries guardrails on a text: %s', (text, verdict) =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/guardrails?tab=try', 'Guardrails');
        await page.getByRole('textbox', { name: 'Text' }).fill(text);
        await page.getByRole('button', { name: 'Try it' }).click();
        await page.getByText(verdict, { exact: true }).waitFor();
        expect(window.faults).toEqual([]);
      }),
    );

    it('has two models answer side by side, with what each cost, and stops one', () =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/playground?models=sandbox/words,sandbox/echo', 'Playground');
        await page.getByLabel('Your message').fill('30 words, please');
        await page.getByRole('button', { name: 'Send' }).click();
        const figures = page.locator('dl.figures:not([aria-busy=true]) [data-credits]');
        await figures.nth(1).waitFor();
        await page.getByLabel('Your message').fill('5000 words, please');
        await page.getByRole('button', { name: 'Send' }).click();
        // That of the first model, which answers at length.
        await page.getByRole('button', { name: 'Stop' }).first().click();
        await page.getByRole('button', { name: 'Send' }).waitFor();
        await figures.nth(3).waitFor();
        expect(window.faults).toEqual([]);
      }));

    it('looks at what jobs have made', () =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/jobs', 'Jobs');
        const jobs = page.getByRole('list', { name: 'Jobs, newest first' }).getByRole('listitem');
        expect(await jobs.count()).toBeGreaterThan(3);
        await jobs.last().getByRole('button').first().click();
        await page.getByRole('dialog', { name: 'Job' }).waitFor();
        await page.keyboard.press('Escape');
        await page.waitForURL((url) => !url.search.includes('open'));
        expect(window.faults).toEqual([]);
      }));

    it('invites a member, and withdraws that', () =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/members', 'Members');
        await page.getByRole('button', { name: 'Invite a member' }).click();
        const email = `guest-${Date.now()}@acme.example`;
        await page.getByLabel('E-mail').fill(email);
        await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
        await page.getByLabel('The link to log in').waitFor();
        await page.keyboard.press('Escape');
        const row = page.getByRole('row').filter({ hasText: email });
        await row.getByRole('button', { name: /^Withdraw/ }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
        await row.waitFor({ state: 'detached' });
        expect(window.faults).toEqual([]);
      }));

    it('makes an alert with a webhook, and sees the secret that it is signed with', () =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/integrations?tab=alerts', 'Integrations');
        await page.getByRole('button', { name: 'New alert' }).first().click();
        const form = page.getByRole('dialog');
        const name = `Suite ${Date.now()}`;
        await form.getByLabel('Name').fill(name);
        for (const figure of await form.locator('input[required][inputmode=numeric]').all()) {
          await figure.fill('1000');
        }
        await form.getByLabel('URL').fill('http://127.0.0.1:9/hook');
        await form.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('row').filter({ hasText: name }).waitFor();
        await page.getByRole('tab', { name: 'Webhooks' }).click();
        await page.getByRole('button', { name: 'Show' }).click();
        await page.getByLabel('The webhook secret').waitFor();
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

    it('goes through the first steps until a request of its own arrives', () =>
      asStranger('/welcome', async ({ page, faults }, system) => {
        await logInByKey(page, await makeTenant(system));
        await waitForLogin(page);
        await goThroughFirstSteps(page, system.url);
        expect(faults).toEqual([]);
      }));
  });
}

/** One that has done nothing yet. @returns the key of its owner */
async function makeTenant({ url, adminKey }: ConsoleSystem): Promise<string> {
  const answer = await fetch(`${url}/v1/admin/tenants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ name: `newcomer ${Date.now()}`, credits: 5_000_000, keys: ['management'] },
    }),
  });
  const tenant = (await answer.json()) as { keys: { key: string }[] };
  return tenant.keys[0]!.key;
}
