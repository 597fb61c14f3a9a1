import { describe, expect, it } from '@jest/globals';
import { visit, waitForData } from '../support/console/visit.js';
import { actorsOf, waitForToast, type Stage } from './scene.js';

/** A seeded tenant that no other test uses. */
const TENANT = 'Hooli';
const BOOKS_LIMIT_MS = 600_000;

/** Tests the operator's actions. */
export function describeOperatorsWork(stage: () => Stage, isLong: boolean): void {
  const { as } = actorsOf(stage);

  describe('An operator', () => {
    it('grants a tenant credits with a memo in the ledger', () =>
      as('operator', async (window, system) => {
        const { page } = window;
        await visit(window.page, '/tenants', 'Tenants');
        await page.getByLabel('Search').fill(TENANT);
        await page.getByRole('link', { name: TENANT, exact: true }).click();
        await waitForData(page, TENANT);
        await page.getByRole('button', { name: 'Grant credits' }).click();
        const form = page.getByRole('dialog');
        await form.getByLabel('Credits').fill('1234567');
        const memo = `Invoice ${Date.now()}`;
        await form.getByLabel('Memo').fill(memo);
        await form.getByRole('button', { name: 'Grant credits', exact: true }).click();
        await waitForToast(page, '1,234,567 credits');
        await page.getByRole('row').filter({ hasText: memo }).getByText('1,234,567').waitFor();
        const entries = await system.query<{ amount: string }>(
          'SELECT amount FROM ledger_entries WHERE memo = $1',
          [memo],
        );
        expect(entries.map(({ amount }) => Number(amount))).toEqual([1_234_567]);
        expect(window.faults).toEqual([]);
      }));

    if (!isLong) return;

    it('suspends and resumes a tenant', () =>
      as('operator', async (window) => {
        const { page } = window;
        await visit(window.page, `/tenants?search=${TENANT}`, 'Tenants');
        await page.getByRole('link', { name: TENANT, exact: true }).click();
        await page.getByRole('tab', { name: 'Settings' }).click();
        await page.getByRole('button', { name: 'Suspend tenant' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Suspend tenant' }).click();
        await page.getByText('Suspended since').waitFor();
        await page.getByRole('button', { name: 'Resume tenant' }).click();
        await page.getByText('Suspended since').waitFor({ state: 'detached' });
        expect(window.faults).toEqual([]);
      }));

    it('pauses a route with a reason and resumes it', () =>
      as('operator', async (window) => {
        const { page } = window;
        await visit(window.page, '/routes?tab=routes&model=gpt-4.1-nano', 'Routes');
        await page
          .getByRole('button', { name: /^Pause openai\/gpt-4\.1-nano at/ })
          .first()
          .click();
        const reason = `Ticket ${Date.now()}`;
        await page.getByRole('dialog').getByLabel('Reason').fill(reason);
        await page.getByRole('dialog').getByRole('button', { name: 'Pause route' }).click();
        const row = page.getByRole('row').filter({ hasText: reason });
        await row
          .getByRole('button', { name: /^Resume/ })
          .first()
          .click();
        await page.getByRole('dialog').getByRole('button', { name: 'Resume route' }).click();
        await row.first().waitFor({ state: 'detached' });
        expect(window.faults).toEqual([]);
      }));

    it('changes a price after a preview and rolls back', () =>
      as('operator', async (window) => {
        const { page } = window;
        await visit(window.page, '/catalogue?model=gpt-4.1-nano', 'Catalogue');
        const version = Number(await page.locator('[data-stat="version"] dd').innerText());
        await page
          .getByRole('button', { name: 'Edit prices of openai/gpt-4.1-nano' })
          .first()
          .click();
        const form = page.getByRole('dialog');
        // Differs between runs.
        const price = `0.000000${100 + (Date.now() % 900)}`;
        await form.getByLabel('Output').fill(price);
        await form.getByRole('button', { name: 'Preview' }).click();
        await form.getByRole('table', { name: 'Preview of changes' }).waitFor();
        await form.getByText(price).waitFor();
        await form.getByLabel('Comment').fill('Console suite');
        await form.getByRole('button', { name: 'Apply prices' }).click();
        await waitForToast(page, `Version ${version + 1}`);

        await page.getByRole('tab', { name: 'Versions' }).click();
        await page
          .getByRole('button', { name: String(version), exact: true })
          .first()
          .click();
        await page.getByRole('button', { name: /^Roll back to this version/ }).click();
        await form.getByRole('button', { name: 'Preview' }).click();
        await form.getByRole('button', { name: 'Roll back' }).click();
        await waitForToast(page, `Version ${version + 2}`);
        expect(window.faults).toEqual([]);
      }));

    it(
      'checks the books and shows each invariant',
      () =>
        as('operator', async (window) => {
          const { page } = window;
          await visit(window.page, '/books', 'Books');
          await page.getByRole('button', { name: 'Check books' }).click();
          await page.getByText('All invariants hold.').waitFor({ timeout: BOOKS_LIMIT_MS });
          expect(await page.locator('main .badge.tone-good').count()).toBeGreaterThan(5);
          expect(await page.locator('main .badge.tone-bad').count()).toBe(0);
          expect(window.faults).toEqual([]);
        }),
      BOOKS_LIMIT_MS,
    );

    it("views a tenant's pages as that tenant", () =>
      as('operator', async (window, system) => {
        const { page } = window;
        await visit(window.page, `/tenants?search=${TENANT}`, 'Tenants');
        await page.getByRole('link', { name: TENANT, exact: true }).click();
        await page.getByRole('button', { name: 'View as tenant' }).click();
        await waitForData(page, 'Overview');
        const shown = await page
          .locator('[data-stat="balance"] [data-credits]')
          .getAttribute('data-credits');
        const [row] = await system.query<{ balance: string }>(
          `SELECT sum(amount) AS balance FROM ledger_entries JOIN tenants ON tenants.id = tenant_id WHERE name = $1`,
          [TENANT],
        );
        expect(shown).toBe(row?.balance);
        expect(window.faults).toEqual([]);
      }));
  });
}
