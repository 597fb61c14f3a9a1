import { describe, expect, it } from '@jest/globals';
import type { ConsoleSystem } from '../support/console/console-system.js';
import { visit, waitForData } from '../support/console/visit.js';
import { callModel, goThroughFirstSteps } from './first-steps.js';
import { actorsOf, logInByKey, waitForLogin, waitForToast, type Stage } from './scene.js';

/** Tests the actions of a tenant's members. */
export function describeTenantsWork(stage: () => Stage, isLong: boolean): void {
  const { as, asAnonymous } = actorsOf(stage);

  describe('An owner', () => {
    it('creates a key that is shown once and calls models', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/keys', 'API keys');
        await page.getByRole('button', { name: 'Create key' }).click();
        const name = `suite ${Date.now()}`;
        await page.getByRole('dialog').getByLabel('Name').fill(name);
        // A double click creates a single key.
        await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).dblclick();
        const key = await page.getByLabel('New key').innerText();
        expect((await callModel(system.url, key)).status).toBe(200);
        await page.getByRole('button', { name: 'Done' }).click();
        await page.getByRole('row').filter({ hasText: name }).first().waitFor();
        expect(await page.getByRole('row').filter({ hasText: name }).count()).toBe(1);
        expect(await page.content()).not.toContain(key);
        await page.reload();
        await waitForData(page, 'API keys');
        expect(await page.content()).not.toContain(key);
        expect(window.faults).toEqual([]);
      }));

    it('reopens a confirmation without the previous error', () =>
      as('owner', async ({ page }) => {
        await visit(page, '/keys', 'API keys');
        await page.locator('.row-button').first().click();
        const ask = page.getByRole('dialog').last();
        const confirm = ask.getByRole('button', { name: 'Revoke key' });
        const revoke = page.getByRole('button', { name: 'Revoke', exact: true });
        await revoke.click();
        await page.route('**/v1/customer/api-keys/*', (route) =>
          route.fulfill({ status: 503, json: { error: { message: 'Not now.' } } }),
        );
        await confirm.click();
        await ask.getByText('Not now.').waitFor();
        await ask.getByRole('button', { name: 'Cancel' }).click();
        await revoke.click();
        await ask.getByText(/stop working within a second/).waitFor();
        expect(await ask.getByText('Not now.').count()).toBe(0);
      }));

    it("tests a BYOK account without another vendor's settings", () =>
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
          return route.fulfill({ json: { ok: true, message: 'Key works', latency_ms: 1 } });
        });
        await visit(page, '/integrations', 'Integrations');
        await page.getByRole('button', { name: 'Add account' }).click();
        const form = page.getByRole('dialog');
        await form.getByLabel('Provider').selectOption('one');
        await form.getByLabel('region').fill('here');
        await form.getByLabel('Provider').selectOption('other');
        await form.getByLabel('API key').fill('k');
        await form.getByRole('button', { name: 'Test key' }).click();
        await form.getByText('Key works').waitFor();
        expect(tested).toEqual([{ provider: 'other', key: 'k', settings: {} }]);
      }));

    it('sees a request as soon as it has ended, with its details', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/requests?live=1', 'Requests');
        const user = `user-${Date.now()}`;
        expect((await callModel(system.url, system.acme.routingKey, user)).status).toBe(200);
        const row = page.getByRole('row').filter({ hasText: user });
        await row.waitFor();
        await row.getByRole('button').click();
        const drawer = page.getByRole('dialog');
        await drawer.getByRole('heading', { name: 'Vendor calls' }).waitFor();
        await drawer.getByText(user).first().waitFor();
        await page.waitForURL(/open=/);
        await page.keyboard.press('Escape');
        await drawer.waitFor({ state: 'detached' });
        expect(window.faults).toEqual([]);
      }));

    it('changes stream recovery and sees content logging', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/keys?tab=settings', 'API keys');
        const streams = page.getByLabel('Interrupted streams');
        const recovery = async (): Promise<unknown> => {
          const headers = { authorization: `Bearer ${system.acme.routingKey}` };
          const read = await fetch(`${system.url}/v1/customer/settings`, { headers });
          return read.json();
        };
        await streams.selectOption('any');
        await waitForToast(page, 'within a second');
        expect(await recovery()).toMatchObject({ recovery: 'any' });
        await page.reload();
        await waitForData(page, 'API keys');
        expect(await streams.inputValue()).toBe('any');
        await streams.selectOption('off');
        await waitForToast(page, 'within a second');
        expect(await recovery()).toMatchObject({ recovery: 'off' });
        await page.getByLabel('Prompts and answers').waitFor();
        expect(window.faults).toEqual([]);
      }));

    if (!isLong) return;

    it('filters requests by URL and keeps the filters over a reload', () =>
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

    it('changes a tenant limit', () =>
      as('owner', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/keys?tab=limits', 'API keys');
        for (const [rate, stored] of [
          ['54321', 54_321],
          ['50000', 50_000],
        ] as const) {
          await page.getByRole('button', { name: 'Edit' }).first().click();
          await page
            .getByRole('dialog')
            .getByLabel(/^Requests per minute/)
            .fill(rate);
          await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
          await waitForToast(page, 'Limits saved');
          const answer = await fetch(`${system.url}/v1/customer/limits`, {
            headers: { authorization: `Bearer ${system.acme.managementKey}` },
          });
          expect(await answer.json()).toMatchObject({ limits: { requests_per_minute: stored } });
        }
        expect(window.faults).toEqual([]);
      }));

    it.each([
      [
        'My key is sk-proj-abcdefghijklmnopqrstuvwx0123456789.',
        'Blocked: the request would be rejected.',
      ],
      ['Write to ada@acme.example.', 'Flagged: the request would be allowed and marked.'],
      ['Good morning!', 'Allowed: no guardrail matches.'],
    ])('tests guardrails on a text: %s', (text, verdict) =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/guardrails?tab=try', 'Guardrails');
        await page.getByRole('textbox', { name: 'Text' }).fill(text);
        await page.getByRole('button', { name: 'Test', exact: true }).click();
        await page.getByText(verdict, { exact: true }).waitFor();
        expect(window.faults).toEqual([]);
      }),
    );

    it('compares two models with their costs and stops one', () =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/playground?models=sandbox/words,sandbox/echo', 'Playground');
        await page.getByLabel('Message').fill('30 words, please');
        await page.getByRole('button', { name: 'Send' }).click();
        const figures = page.locator('dl.figures:not([aria-busy=true]) [data-credits]');
        await figures.nth(1).waitFor();
        await page.getByLabel('Message').fill('5000 words, please');
        await page.getByRole('button', { name: 'Send' }).click();
        // Stops the first model, whose answer is long.
        await page.getByRole('button', { name: 'Stop' }).first().click();
        await page.getByRole('button', { name: 'Send' }).waitFor();
        await figures.nth(3).waitFor();
        expect(window.faults).toEqual([]);
      }));

    it('opens a job', () =>
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

    it('invites a member and withdraws the invitation', () =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/members', 'Members');
        await page.getByRole('button', { name: 'Invite member' }).click();
        const email = `guest-${Date.now()}@acme.example`;
        await page.getByLabel('Email').fill(email);
        await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
        await page.getByLabel('Login link').waitFor();
        await page.keyboard.press('Escape');
        const row = page.getByRole('row').filter({ hasText: email });
        await row.getByRole('button', { name: /^Withdraw/ }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
        await row.waitFor({ state: 'detached' });
        expect(window.faults).toEqual([]);
      }));

    it('creates an alert with a webhook and sees the signing secret', () =>
      as('owner', async (window) => {
        const { page } = window;
        await visit(page, '/integrations?tab=alerts', 'Integrations');
        await page.getByRole('button', { name: 'Create alert' }).first().click();
        const form = page.getByRole('dialog');
        const name = `Suite ${Date.now()}`;
        await form.getByLabel('Name').fill(name);
        for (const figure of await form.locator('input[required][inputmode=numeric]').all()) {
          await figure.fill('1000');
        }
        await form.getByLabel('URL').fill('http://127.0.0.1:9/hook');
        await form.getByRole('button', { name: 'Create alert' }).click();
        await page.getByRole('row').filter({ hasText: name }).waitFor();
        await page.getByRole('tab', { name: 'Webhooks' }).click();
        await page.getByRole('button', { name: 'Show secret' }).click();
        await page.getByLabel('Webhook secret').waitFor();
        expect(window.faults).toEqual([]);
      }));
  });

  describe('A newcomer', () => {
    it('is guided to the getting-started page', () =>
      as('newcomer', async (window) => {
        await visit(window.page, '/', 'Overview');
        await window.page.locator('main a[href^="/console/welcome"]').first().waitFor();
        await visit(window.page, '/requests', 'Requests');
        await window.page.getByText('No requests yet').waitFor();
        expect(window.faults).toEqual([]);
      }));

    it('completes the getting-started steps', () =>
      asAnonymous('/welcome', async ({ page, faults }, system) => {
        await logInByKey(page, await createTenant(system));
        await waitForLogin(page);
        await goThroughFirstSteps(page, system.url);
        expect(faults).toEqual([]);
      }));
  });
}

/** Creates an unused tenant and returns its management key. */
async function createTenant({ url, adminKey }: ConsoleSystem): Promise<string> {
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
