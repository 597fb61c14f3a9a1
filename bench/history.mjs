import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PROJECT_ROOT } from '../scripts/project-root.mjs';
import { median } from './statistics.mjs';
import { toMarkdown } from './table.mjs';

const FOLDER = join(PROJECT_ROOT, 'bench', 'history');
/** A change must exceed the noise by this share of the earlier value. */
const MARGIN = 0.05;

const WORDS = { worse: '**worse**', better: 'better', same: '' };

/**
 * Returns the figures of a run for the history, without information about the machine.
 *
 * @param results each row's `id` and `figures`; see `lines.mjs`
 */
export function toRecord({ mode, results, otherCores, conditions }, now = new Date()) {
  const rows = {};
  for (const { id, figures } of results) {
    rows[id] = figures.map((figure) => ({ ...figure, values: figure.values.map(rounded) }));
  }
  return {
    date: `${now.toISOString().slice(0, 19)}Z`,
    commit: currentCommit(),
    mode,
    ...conditions,
    other_cores: rounded(otherCores),
    rows,
  };
}

/** @returns the name of the file, with one line per figure */
export function writeRecord(record, folder = FOLDER) {
  mkdirSync(folder, { recursive: true });
  const kind = record.mode === 'usual' ? '' : `-${record.mode}`;
  const name = `${record.date.slice(0, 10)}-${record.commit}${kind}.json`;
  const { rows, ...head } = record;
  const lines = Object.entries(rows).map(
    ([id, figures]) =>
      `    ${JSON.stringify(id)}: [\n      ${figures.map((one) => JSON.stringify(one)).join(',\n      ')}\n    ]`,
  );
  const top = JSON.stringify(head, undefined, 2).slice(0, -2);
  writeFileSync(join(folder, name), `${top},\n  "rows": {\n${lines.join(',\n')}\n  }\n}\n`);
  return name;
}

/**
 * Reads a record by its file name or a part of it, such as the commit; without a name, the newest of
 * the mode.
 *
 * @throws Error for the user when there is none, or when it has another mode
 */
export function readRecord(named, mode, folder = FOLDER) {
  if (named !== undefined && existsSync(named)) return checkMode(readJson(named), mode, named);
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.endsWith('.json'))
    : [];
  const records = names
    .map((name) => ({ name, record: readJson(join(folder, name)) }))
    .sort((one, other) => (one.record.date < other.record.date ? -1 : 1));
  if (named === undefined) {
    const found = records.findLast(({ record }) => record.mode === mode);
    if (!found) throw new Error(`No record of a ${mode} run; make one with --record.`);
    return found.record;
  }
  const found = records.findLast(({ name }) => name.includes(basename(named, '.json')));
  if (!found) throw new Error(`No record is called ${named}.`);
  return checkMode(found.record, mode, named);
}

/**
 * Compares the rows that two records share. `verdict` is `worse` or `better` when the medians differ by
 * more than the spread of the rounds and 5 %.
 */
export function compareRecords(before, after) {
  const changes = [];
  for (const [row, figures] of Object.entries(after.rows)) {
    for (const figure of figures) {
      const old = before.rows[row]?.find(({ name }) => name === figure.name);
      if (old) changes.push({ row, ...compareFigures(old, figure) });
    }
  }
  return changes;
}

function compareFigures(old, { name, unit, values, floor }) {
  const [from, to] = [median(old.values), median(values)];
  const noise = Math.hypot(halfSpread(old.values), halfSpread(values));
  const bound = Math.max(floor, noise + MARGIN * Math.abs(from));
  const verdict = to - from > bound ? 'worse' : from - to > bound ? 'better' : 'same';
  return { name, unit, from, to, bound, verdict };
}

/** Renders the changes as a Markdown table. */
export function changesToMarkdown(changes) {
  return toMarkdown(changes, [
    ['row', ({ row }) => row],
    ['figure', ({ name }) => name],
    ['before', ({ from, unit }) => `${from.toFixed(2)} ${unit}`.trim()],
    ['now', ({ to, unit }) => `${to.toFixed(2)} ${unit}`.trim()],
    ['change', ({ from, to }) => signed(to - from)],
    ['counts from', ({ bound }) => `± ${bound.toFixed(2)}`],
    ['', ({ verdict }) => WORDS[verdict] || '='],
  ]);
}

function checkMode(record, mode, named) {
  if (record.mode === mode) return record;
  throw new Error(`${named} is of a ${record.mode} run, and this is a ${mode} one.`);
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Ends in `-changed` when there are uncommitted changes. */
function currentCommit() {
  try {
    const git = (...words) =>
      execFileSync('git', words, { cwd: PROJECT_ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
    const commit = git('rev-parse', '--short=10', 'HEAD');
    return git('status', '--porcelain', '--', 'src', 'bench') === '' ? commit : `${commit}-changed`;
  } catch {
    return 'unknown';
  }
}

function halfSpread(values) {
  return (Math.max(...values) - Math.min(...values)) / 2;
}

function rounded(value) {
  return Number(value.toPrecision(5));
}

function signed(value) {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}
