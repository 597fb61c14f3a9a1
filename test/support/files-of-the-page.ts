import { readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);
const PAGE = 'docs/adding-a-provider.md';

/** A file of a page's diff. Each hunk replaces its context and removed lines by its context and added lines. */
interface PageChange {
  readonly path: string;
  readonly hunks: readonly { readonly before: string; readonly after: string }[];
}

/** Returns the diffs that a page shows, in order. `+++ path` starts a file and `@@` another hunk. */
export function diffsOfThePage(page: string): PageChange[][] {
  const diffs = readFileSync(new URL(page, ROOT), 'utf8').matchAll(/```diff\n(.*?)```/gs);
  return [...diffs].map(([, diff = '']) =>
    diff
      .split(/^\+\+\+ /m)
      .slice(1)
      .map(toChange),
  );
}

function toChange(part: string): PageChange {
  const [path = '', ...lines] = part.trimEnd().split('\n');
  const hunks = lines
    .join('\n')
    .split(/^@@\n/m)
    .map((hunk) => {
      const rows = hunk.replace(/\n$/, '').split('\n');
      const textOf = (signs: string): string =>
        rows
          .filter((row) => signs.includes(row[0] ?? ' '))
          .map((row) => `${row.slice(1)}\n`)
          .join('');
      return { before: textOf(' -'), after: textOf(' +') };
    });
  return { path, hunks };
}

/** Applies a change to a file's text; a new file has none. @throws Error for context that is not there once */
export function applyChange(text: string, { path, hunks }: PageChange): string {
  return hunks.reduce((changed, { before, after }) => {
    if (before === '' && changed !== '') throw new Error(`${path} exists`);
    const parts = before === '' ? ['', ''] : changed.split(before);
    if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${before}`);
    return parts.join(after);
  }, text);
}

/** Returns the new files of the diff on the page about providers: their texts by path. */
export function filesOfThePage(): Map<string, string> {
  const [changes = []] = diffsOfThePage(PAGE);
  return new Map(changes.map((change) => [change.path, applyChange('', change)]));
}
