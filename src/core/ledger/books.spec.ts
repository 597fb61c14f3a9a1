import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { BOOK_CHECKS, findBookFaults, type BookReader } from './books.js';

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

describe('docs/ledger.md', () => {
  it('lists the statements that the service runs', () => {
    const page = readFileSync('docs/ledger.md', 'utf8');
    const documented = [...page.matchAll(/```sql\n(.*?);\n```/gs)].map(([, text = '']) =>
      inOneLine(text),
    );
    expect(documented).toEqual(BOOK_CHECKS.map(({ statement }) => inOneLine(statement)));
  });
});

describe(findBookFaults.name, () => {
  it.each([
    [true, BOOK_CHECKS.length],
    [false, BOOK_CHECKS.filter(({ needsWholeLog }) => !needsWholeLog).length],
  ])('reports every failed check when the log is complete: %s', async (isLogWhole, count) => {
    const books = { query: async () => ({ rows: [{ tenant_id: 't' }] }) };
    const faults = await findBookFaults(books as unknown as BookReader, { isLogWhole });
    expect(faults).toHaveLength(count);
    expect(faults[0]).toBe('a balance is not the sum of its entries: [{"tenant_id":"t"}]');
  });
});
