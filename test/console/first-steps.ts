import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { visit } from '../support/console/visit.js';

/** Completes the getting-started steps on an empty system, up to the first request from code. */
export async function goThroughFirstSteps(page: Page, url: string): Promise<void> {
  await visit(page, '/welcome', 'Getting started');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('dl.figures:not([aria-busy=true]) [data-credits]').waitFor();

  await visit(page, '/welcome?step=key', 'Getting started');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.getByLabel('Your key').innerText();

  await visit(page, '/welcome?step=code&language=curl', 'Getting started');
  const code = await page.getByLabel('curl code').innerText();
  expect(code).toContain(key);
  expect(code).toContain(url);

  await visit(page, '/welcome?step=arrival', 'Getting started');
  await page.getByText('Waiting for your request').waitFor();
  const answer = await callModel(url, key);
  expect(answer.status).toBe(200);
  // Appears without interaction.
  await page.getByRole('table', { name: 'Newest requests' }).waitFor();
  await page.getByRole('link', { name: 'sandbox/echo' }).first().click();
  await page.getByRole('heading', { name: 'Vendor calls' }).waitFor();
}

/** Calls a model like an application. */
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
