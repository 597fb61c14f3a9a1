import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { visit } from '../support/console/visit.js';

/** What somebody does on an empty system, until the first request of code of their own arrives. */
export async function goThroughFirstSteps(page: Page, url: string): Promise<void> {
  await visit(page, '/welcome', 'First steps');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('dl.figures:not([aria-busy=true]) [data-credits]').waitFor();

  await visit(page, '/welcome?step=key', 'First steps');
  await page.getByRole('button', { name: 'Make the key' }).click();
  const key = await page.getByLabel('Your key').innerText();

  await visit(page, '/welcome?step=code&language=curl', 'First steps');
  const code = await page.getByLabel('Three lines of curl').innerText();
  expect(code).toContain(key);
  expect(code).toContain(url);

  await visit(page, '/welcome?step=arrival', 'First steps');
  await page.getByText('Waiting for your request').waitFor();
  const answer = await callModel(url, key);
  expect(answer.status).toBe(200);
  // By itself: nothing is pressed.
  await page.getByRole('table', { name: 'The newest requests' }).waitFor();
  await page.getByRole('link', { name: 'sandbox/echo' }).first().click();
  await page.getByRole('heading', { name: 'Calls to vendors' }).waitFor();
}

/** A call of a model, as an application makes it. */
export function callModel(url: string, key: string, user = 'suite'): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'sandbox/echo', user },
      messages: [{ role: 'user', content: 'Hello!' }],
    }),
  });
}
