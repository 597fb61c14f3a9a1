import { describe, expect, it } from '@jest/globals';
import { findProvider } from '@pydantic/genai-prices';
import { readFileSync } from 'node:fs';
import { listedAs } from '../../vendors/vendors.js';
import { builtInRows } from '../../core/catalogue/load-catalogue.js';
import { comparePrices } from './compare-prices.js';
import { readPriceList } from './read-price-list.js';

/** Release date of the package, which makes the result reproducible. */
const TODAY = '2026-11-23';

/** Returns the package's list, reduced to our vendors. */
function publicList() {
  const providers = new Set([...builtInRows().keys()].map((id) => id.split('/', 1)[0]!));
  const names = [...providers].flatMap((provider) => listedAs(provider));
  const vendors = names.flatMap((providerId) => findProvider({ providerId }) ?? []);
  return readPriceList(Buffer.from(JSON.stringify([...new Set(vendors)])), TODAY);
}

/** Returns `model@route` of each row in the documented table of differences. */
function explained(): string[] {
  const page = readFileSync(new URL('../../../docs/prices.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('## Where built-in prices differ');
  return [...table.matchAll(/`([^`\s]+@[a-z-]+)`/g)].map(([, name]) => name!);
}

describe('built-in prices', () => {
  const { moves, confirmed, problems } = comparePrices(builtInRows(), publicList(), {
    source: 'genai-prices',
    today: TODAY,
    accept: ['all'],
  });

  it('match a public list except for documented differences', () => {
    const different = new Set(moves.map(({ id, provider }) => `${id}@${provider}`));
    expect(explained().sort()).toEqual([...different].sort());
    expect(problems).toEqual([]);
  });

  it('are compared for all listed rows', () => {
    expect(confirmed.length).toBeGreaterThanOrEqual(145);
  });
});
