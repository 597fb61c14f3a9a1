import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { COMMAND_AUTHOR } from '../../core/access/author.js';
import {
  builtInRows,
  loadCatalogue,
  mergeRow,
  mergeRows,
  readOperatorRows,
  type CatalogueRows,
} from '../../core/catalogue/load-catalogue.js';
import {
  comparePrices,
  type Comparison,
  type ModelMove,
} from '../../operator/price-lists/compare-prices.js';
import { loadPriceList } from '../../operator/price-lists/load-price-list.js';
import { PriceListError, type PriceList } from '../../operator/price-lists/price-list.js';
import { factorOf } from '../../operator/price-lists/price-moves.js';
import { STALE_AFTER_DAYS, staleRowsOf } from '../../operator/price-lists/stale-prices.js';
import { EMPTY_DOCUMENT, shownDocument } from '../../core/configuration/config-document.js';
import { codeOf, messageOf } from '../../platform/errors/thrown.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import {
  CommandError,
  readInteger,
  UsageError,
  type Command,
  type CommandContext,
} from './command.js';
import { formatTable } from '../../operator/format-table.js';

const MAX_DAYS = 3_650;
/** How many unlisted models are named. */
const MAX_NAMED = 400;

export const catalogueCheckCommand: Command = {
  name: 'catalogue check',
  summary: 'Check the model catalogue, with GATEWAY_CATALOGUE merged over the built-in one.',
  parameters: [],
  options: {},
  async run(_, context) {
    const { models, problems } = loadCatalogue(context.config().catalogueFile);
    problems.forEach(context.print);
    if (problems.length > 0) {
      throw new CommandError(`${problems.length} of the catalogue's rows cannot be used`);
    }
    context.print(`The catalogue is complete: ${models.length} models.`);
  },
};

export const catalogueUpdateCommand: Command = {
  name: 'catalogue update',
  summary:
    'Compare the catalogue with a public price list (LiteLLM, models.dev, genai-prices). Changes nothing by default: --write writes a file for GATEWAY_CATALOGUE, --apply creates a configuration version. Exit code 0: nothing left to do, 1: failure, 2: prices differ and were not written.',
  parameters: ['file|url'],
  options: { write: 'FILE' },
  lists: { accept: 'MODEL[:UNIT]|all', add: 'PATTERN' },
  flags: ['apply', 'in-force'],
  async run({ parameters: [place = ''], options: { write }, lists, flags }, context) {
    const isApplied = flags.has('apply');
    if (write !== undefined && (isApplied || flags.has('in-force'))) {
      throw new UsageError(
        `--write cannot be combined with ${isApplied ? '--apply' : '--in-force'}`,
      );
    }
    const today = new Date().toISOString().slice(0, 10);
    const list = await load(place, today);
    const { accept = [], add = [] } = lists;
    const source = `${place}, format ${list.name}`;
    const compare = (rows: CatalogueRows): Comparison => {
      const comparison = comparePrices(rows, list, { accept, add, source, today });
      refuseUnusedAccepts(accept, comparison);
      return comparison;
    };
    let seen: Comparison;
    if (isApplied) {
      seen = await apply(compare, source, context);
    } else {
      const own = write === undefined ? [] : rowsIn(write);
      const base = await baseRows(context, flags.has('in-force'));
      seen = compare(mergeRows(base, own));
    }
    report(seen, add, context);
    const isWritten = isApplied || write !== undefined;
    if (write !== undefined && seen.rows.length > 0) {
      writeRows(write, seen.rows);
      context.print(`${seen.rows.length} rows are in ${write}.`);
    }
    conclude(seen, isWritten);
  },
};

export const catalogueStaleCommand: Command = {
  name: 'catalogue stale',
  summary:
    'List rows whose prices have not been confirmed for 60 days or the given number. Exit code 0: none, 1: failure, 2: some.',
  parameters: [],
  options: { days: 'N' },
  flags: ['in-force'],
  async run({ options, flags }, context) {
    const days = readInteger('--days', options.days ?? String(STALE_AFTER_DAYS), 0, MAX_DAYS);
    const rows = staleRowsOf(await baseRows(context, flags.has('in-force')), Date.now(), days);
    if (rows.length === 0) {
      context.print(`All prices were confirmed within the last ${days} days.`);
      return;
    }
    const lines = rows.map(({ id, asOf = 'never', source = '' }) => [id, asOf, source]);
    formatTable([['MODEL', 'AS OF', 'SOURCE'], ...lines]).forEach(context.print);
    throw new CommandError(`${rows.length} rows have not been confirmed for ${days} days`, 2);
  },
};

async function load(place: string, today: string): Promise<PriceList> {
  try {
    return await loadPriceList(place, { today });
  } catch (error) {
    if (error instanceof PriceListError) throw new CommandError(error.message);
    throw error;
  }
}

/** Returns the built-in rows or those of the latest version, overlaid with the operator's file. */
async function baseRows(context: CommandContext, isInForce: boolean): Promise<CatalogueRows> {
  const { catalogueFile } = context.config();
  const declared = catalogueFile === undefined ? [] : readOperatorRows(catalogueFile);
  if (!isInForce) return mergeRows(builtInRows(), declared);
  const { configVersions } = await context.services();
  const latest = await configVersions.latestAfter(0);
  return mergeRows(latest?.catalogue ?? builtInRows(), declared);
}

/** Creates a configuration version with the changed prices. Concurrent changes wait. */
async function apply(
  compare: (rows: CatalogueRows) => Comparison,
  source: string,
  context: CommandContext,
): Promise<Comparison> {
  const { configVersions } = await context.services();
  let seen: Comparison | undefined;
  const { version, isNew } = await configVersions.change(
    COMMAND_AUTHOR,
    (latest) => {
      seen = compare(latest?.catalogue ?? builtInRows());
      const document = shownDocument(latest?.document ?? EMPTY_DOCUMENT);
      return { value: { ...document, models: mergedInto(document.models, seen.rows) } };
    },
    { action: 'config.apply', mayNameVariables: true, comment: `Prices from ${source}` },
  );
  if (!seen) throw new CommandError('the prices were not compared');
  context.print(
    isNew
      ? `Version ${version.number} of the configuration contains them (fingerprint ${version.fingerprint}).`
      : `Version ${version.number} of the configuration is unchanged.`,
  );
  const { catalogueFile } = context.config();
  const declared = catalogueFile === undefined ? [] : readOperatorRows(catalogueFile);
  const hidden = seen.moves.filter(({ id }) => declared.some((row) => row.id === id));
  if (hidden.length > 0) {
    const ids = [...new Set(hidden.map(({ id }) => id))].join(', ');
    context.note(`GATEWAY_CATALOGUE of this machine overrides rows of the version: ${ids}`);
  }
  return seen;
}

/** Merges rows over existing ones, which keep their position; appends new ones. */
function mergedInto(rows: readonly JsonObject[], updates: readonly JsonObject[]): JsonObject[] {
  const merged = new Map(rows.map((row) => [row.id, row]));
  for (const update of updates) merged.set(update.id, mergeRow(merged.get(update.id), update));
  return [...merged.values()];
}

function rowsIn(file: string): JsonObject[] {
  const { models } = fileContent(file);
  if (Array.isArray(models) && models.every(isJsonObject)) return models;
  throw new CommandError(
    `${file} is not a catalogue file: it must contain {"models": […]} or a list`,
  );
}

/** Reads the file; a missing file is empty. */
function fileContent(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { models: [] };
    throw new CommandError(`${file} cannot be read (${codeOf(error) ?? messageOf(error)})`);
  }
  try {
    const content: unknown = JSON.parse(text);
    return isJsonObject(content) ? content : { models: content };
  } catch {
    throw new CommandError(`${file} is not valid JSON`);
  }
}

/** Writes atomically. */
function writeRows(file: string, rows: readonly JsonObject[]): void {
  const content = { ...fileContent(file), models: mergedInto(rowsIn(file), rows) };
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`);
    renameSync(draft, file);
  } catch (error) {
    throw new CommandError(`${file} cannot be written (${codeOf(error) ?? messageOf(error)})`);
  }
}

function report(seen: Comparison, add: readonly string[], { print, note }: CommandContext): void {
  if (seen.moves.length > 0) {
    const heading = ['MODEL', 'ROUTE', 'UNIT', 'OLD', 'NEW', 'FACTOR', ''];
    formatTable([heading, ...seen.moves.map(lineOf)]).forEach(print);
  }
  seen.problems.forEach(note);
  print(`${seen.confirmed.length} rows agree with the list, as they are or after these changes.`);
  if (seen.unlisted.length > 0) print(`Not in the list: ${named(seen.unlisted)}.`);
  if (add.length === 0 && seen.others.length > 0) {
    print(
      `${seen.others.length} more models of these vendors have no row; --add PATTERN adds them.`,
    );
  }
  for (const { id } of seen.rows.filter((row) => seen.others.includes(String(row.id)))) {
    print(`New: ${String(id)}`);
  }
  for (const id of seen.freeOnes) print(`Not added because it would be free: ${id}`);
}

function lineOf(move: ModelMove): string[] {
  const { id, provider, unit, before, instead, after, heldBack } = move;
  const held = heldBack === undefined ? '' : `held back: ${heldBack}`;
  return [id, provider, unit, before ?? `(${instead})`, after, factorOf(move), held];
}

function named(ids: readonly string[]): string {
  const more = ids.length - MAX_NAMED;
  return ids.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Rejects values of --accept that match nothing, which are probably typos. */
function refuseUnusedAccepts(accept: readonly string[], { moves, rows }: Comparison): void {
  const known = new Set([
    'all',
    ...moves.flatMap(({ id, unit }) => [id, `${id}:${unit}`]),
    ...rows.map(({ id }) => String(id)),
  ]);
  const unknown = accept.find((word) => !known.has(word));
  if (unknown !== undefined) {
    throw new CommandError(`--accept ${unknown}: no price with that name differs from the list`);
  }
}

function conclude({ moves, freeOnes }: Comparison, isWritten: boolean): void {
  const held = moves.filter(({ heldBack }) => heldBack !== undefined).length + freeOnes.length;
  if (held > 0) {
    throw new CommandError(
      `held back: ${held}; accept with --accept MODEL[:UNIT] or --accept all`,
      2,
    );
  }
  if (moves.length > 0 && !isWritten) {
    throw new CommandError('nothing was written; use --write FILE or --apply', 2);
  }
}
