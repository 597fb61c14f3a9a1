import { describe, expect, it } from '@jest/globals';
import { findProvider } from '@pydantic/genai-prices';
import { readFileSync } from 'node:fs';
import { listedAs } from '../../vendors/vendors.js';
import { builtInRows } from '../../core/catalogue/load-catalogue.js';
import { comparePrices } from './compare-prices.js';
import { readPriceList } from './read-price-list.js';

/** The day of the package's release, so that the outcome is the same on all days. */
const TODAY = '2026-11-23';

/** The list that the package ships, of the vendors that we have. */
function publicList() {
  const providers = new Set([...builtInRows().keys()].map((id) => id.split('/', 1)[0]!));
  const names = [...providers].flatMap((provider) => listedAs(provider));
  const vendors = names.flatMap((providerId) => findProvider({ providerId }) ?? []);
  return readPriceList(Buffer.from(JSON.stringify([...new Set(vendors)])), TODAY);
}

/** `model@route` of the table in the documentation, each with the reason. */
function explained(): string[] {
  const page = readFileSync(new URL('../../../docs/prices.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('## Where built-in prices differ');
  return [...table.matchAll(/`([^`\s]+@[a-z-]+)`/g)].map(([, name]) => name!);
}

describe('the built-in prices', () => {
  const { moves, confirmed, problems } = comparePrices(builtInRows(), publicList(), {
    source: 'genai-prices',
    today: TODAY,
    accept: ['all'],
  });

  it('are those of a public list but for differences that are explained', () => {
    const different = new Set(moves.map(({ id, provider }) => `${id}@${provider}`));
    expect(explained().sort()).toEqual([...different].sort());
    expect(problems).toEqual([]);
  });

  it('are compared for all rows that the list has', () => {
    expect(confirmed.length).toBeGreaterThanOrEqual(145);
  });
});
