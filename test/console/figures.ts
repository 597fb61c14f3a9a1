import type { Page } from 'playwright-core';

/** A figure on the screen, with the SQL that returns the same value. */
export interface Figure {
  /** Selector of the figure: its `data-credits`, or the first number in its text. */
  at: string;
  /** Returns one integer; $1 is the tenant shown. */
  sql: string;
  /** Index of a duration in the text. The SQL returns milliseconds; the screen shows approximate histogram percentiles. */
  duration?: number;
}

/** Histogram buckets grow by 10 %, and durations below 10 s are shown in tenths. */
const DURATIONS_OFF_BY = 0.11;

/** A table column on the screen, with the SQL that returns the same rows. */
export interface ColumnFigures {
  /** The table's caption. */
  table: string;
  /** The column's header. */
  column: string;
  /** Column that identifies rows; without it rows are compared by position. */
  by?: string;
  /** Returns `figure` per row, and `name` with `by`; $1 is the tenant shown. */
  sql: string;
}

type Query = (
  statement: string,
  values: unknown[],
) => Promise<{ name?: string | null; figure: string | null }[]>;

/** Describes each figure that differs from the database. */
export async function wrongFigures(
  page: Page,
  figures: readonly (Figure | ColumnFigures)[],
  query: Query,
  tenantId: string,
): Promise<string[]> {
  const faults: string[] = [];
  for (const figure of figures) {
    const rows = await query(figure.sql, figure.sql.includes('$1') ? [tenantId] : []);
    if ('at' in figure) {
      const stored = Number(rows[0]?.figure ?? 0);
      const isDuration = figure.duration !== undefined;
      const shown = isDuration
        ? await readDuration(page, figure.at, figure.duration)
        : await readFigure(page, figure.at);
      const tolerance = isDuration ? stored * DURATIONS_OFF_BY : 0;
      if (!(Math.abs(shown - stored) <= tolerance))
        faults.push(`${figure.at} shows ${shown} instead of ${stored}`);
    } else {
      faults.push(...(await wrongRows(page, figure, rows)));
    }
  }
  return faults;
}

async function readFigure(page: Page, at: string): Promise<number> {
  const place = page.locator(`main ${at}`).first();
  const credits = place.locator('[data-credits]');
  if ((await credits.count()) > 0)
    return Number(await credits.first().getAttribute('data-credits'));
  const own = await place.getAttribute('data-credits');
  return Number(own ?? /-?[\d,]+/.exec(await place.innerText())?.[0].replaceAll(',', ''));
}

/** @returns milliseconds */
async function readDuration(page: Page, at: string, index = 0): Promise<number> {
  const text = await page.locator(`main ${at}`).first().innerText();
  const [, count, unit] = [...text.matchAll(/([\d.]+) (ms|s)\b/g)][index] ?? [];
  return Number(count) * (unit === 's' ? 1_000 : 1);
}

/** Compares the rows on the screen, at least one, with the database. */
async function wrongRows(
  page: Page,
  { table, column, by }: ColumnFigures,
  stored: Awaited<ReturnType<Query>>,
): Promise<string[]> {
  const shown = await page.evaluate<[string, number][]>(`(() => {
    const table = [...document.querySelectorAll('main table')]
      .find((one) => one.caption?.textContent === ${JSON.stringify(table)});
    if (!table) return [];
    const headers = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const at = headers.indexOf(${JSON.stringify(column)});
    const by = headers.indexOf(${JSON.stringify(by ?? '')});
    return [...table.tBodies[0].rows].map((row, index) => {
      const cell = row.cells[at];
      const credits = cell.querySelector('[data-credits]')?.getAttribute('data-credits');
      return [by < 0 ? String(index) : row.cells[by].innerText.trim(),
        Number(credits ?? cell.innerText.replaceAll(',', ''))];
    });
  })()`);
  if (shown.length === 0) return [`the table ${table} is empty`];
  const known = new Map(
    stored.map(({ name, figure }, index) => [
      by === undefined ? String(index) : (name ?? ''),
      Number(figure ?? 0),
    ]),
  );
  return shown
    .filter(([name, value]) => known.get(name) !== value)
    .map(
      ([name, value]) =>
        `${column} of ${name} in ${table} shows ${value} instead of ${known.get(name)}`,
    );
}
