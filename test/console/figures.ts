import type { Page } from 'playwright-core';

/** A figure on the screen, and the statement that finds the same in the database. */
export interface Figure {
  /** What has the figure: an amount in credits by `data-credits`, else the first number in its text. */
  at: string;
  /** Answers one whole number; $1 is the tenant that is looked at. */
  sql: string;
  /** For a duration: which one of the text, from 0. The statement answers milliseconds; sums of histograms are not exact. */
  duration?: number;
}

/** Buckets grow by 10 %, and below ten seconds a tenth of one is shown. */
const DURATIONS_OFF_BY = 0.11;

/** A column of a table on the screen, and the statement that finds the same rows. */
export interface ColumnFigures {
  /** The table's caption. */
  table: string;
  /** The column's header. */
  column: string;
  /** Which column names its row; without it the rows are compared in their order. */
  by?: string;
  /** Answers `figure`, and with `by` also `name`, of each row; $1 is the tenant that is looked at. */
  sql: string;
}

type Ask = (
  statement: string,
  values: unknown[],
) => Promise<{ name?: string | null; figure: string | null }[]>;

/** Each figure that is not on the screen as the database has it, in words. */
export async function wrongFigures(
  page: Page,
  figures: readonly (Figure | ColumnFigures)[],
  ask: Ask,
  tenantId: string,
): Promise<string[]> {
  const faults: string[] = [];
  for (const figure of figures) {
    const rows = await ask(figure.sql, figure.sql.includes('$1') ? [tenantId] : []);
    if ('at' in figure) {
      const stored = Number(rows[0]?.figure ?? 0);
      const isDuration = figure.duration !== undefined;
      const shown = isDuration
        ? await readDuration(page, figure.at, figure.duration)
        : await readFigure(page, figure.at);
      const tolerance = isDuration ? stored * DURATIONS_OFF_BY : 0;
      if (!(Math.abs(shown - stored) <= tolerance))
        faults.push(`${figure.at} shows ${shown}, and is ${stored}`);
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

/** What is shown has to be there as it is shown; a list may show a part of what there is, but not nothing. */
async function wrongRows(
  page: Page,
  { table, column, by }: ColumnFigures,
  stored: Awaited<ReturnType<Ask>>,
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
  if (shown.length === 0) return [`there is nothing in the table ${table}`];
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
        `${column} of ${name} in ${table} shows ${value}, and is ${known.get(name)}`,
    );
}
