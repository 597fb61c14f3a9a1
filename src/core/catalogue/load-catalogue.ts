import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { ConfigError, readJsonFile } from '../../platform/config/config-error.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { presetCatalogues } from '../../vendors/vendors.js';
import { canonicalCatalogue, canonicalRow, fingerprintOfText } from './canonical-json.js';
import { catalogueModelSchema } from './catalogue.schema.js';
import type { CatalogueModel, Model } from './catalogue.types.js';
import { exactPricesOf } from './exact-pricing-of.js';
import { nextChangeOf, rowAt } from './price-changes.js';
import { describe, findProblem } from './row-problems.js';
import { shareWeights } from './share-weights.js';
import { messageOf } from '../../platform/errors/thrown.js';

const BUILT_IN = new URL('./data/', import.meta.url);

/** What a row may leave out. An operator's row for a local server then is an id and two prices. */
const DEFAULTS = {
  kind: 'chat',
  description: '',
  created: 0,
  context_length: 128_000,
  max_completion_tokens: null,
  is_moderated: false,
  architecture: {
    modality: 'text->text',
    input_modalities: ['text'],
    output_modalities: ['text'],
    tokenizer: 'unknown',
  },
  supported_parameters: ['temperature', 'top_p', 'max_tokens', 'stop', 'stream', 'tools'],
};

/** Whether a server can reduce dimensions is its own to say. */
const EMBEDDING_DEFAULTS = {
  architecture: null,
  supported_parameters: ['dimensions', 'encoding_format', 'user'],
};

export interface LoadedCatalogue {
  models: Model[];
  /** Rows that were left out, each with the reason; a price that is missing is never a free model. */
  problems: string[];
  /** The same where the same rows were read: 12 hexadecimal digits. */
  fingerprint: string;
  /** Unix ms from which some prices are others; undefined: they stay. */
  changesAt?: number | undefined;
}

/** Catalogue rows by id, as they stand in files. */
export type CatalogueRows = ReadonlyMap<string, JsonObject>;

/**
 * Reads the built-in rows and merges the operator's file over them by model id: fields given
 * there replace the built-in ones, prices key by key.
 *
 * @param operatorFile path of a file with `{"models": […]}` or a plain array of rows
 * @throws ConfigError when the operator's file cannot be read at all
 */
export function loadCatalogue(operatorFile?: string): LoadedCatalogue {
  const operatorRows = operatorFile === undefined ? [] : readOperatorRows(operatorFile);
  return toCatalogue(mergeRows(builtInRows(), operatorRows));
}

let builtIn: CatalogueRows | undefined;

/** The rows that come with the program. */
export function builtInRows(): CatalogueRows {
  if (builtIn) return builtIn;
  const own = readdirSync(BUILT_IN)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => new URL(name, BUILT_IN));
  const rows = [...own, ...presetCatalogues()].flatMap((file) =>
    sourcedRowsOf(JSON.parse(readFileSync(file, 'utf8'))),
  );
  return (builtIn = new Map(shareWeights(rows).map((row) => [String(row.id), row])));
}

/** Rows over others, by id, field by field and price by price; one that says `removed` takes its model away. */
export function mergeRows(base: CatalogueRows, rows: readonly JsonObject[]): CatalogueRows {
  const merged = new Map(base);
  for (const row of rows) {
    const id = String(row.id);
    if (row.removed === true) merged.delete(id);
    else merged.set(id, mergeRow(merged.get(id), row));
  }
  return merged;
}

/**
 * Checks rows and makes their prices exact.
 *
 * @param known models of before, which are taken over where their row is the same object
 */
export function toCatalogue(rows: CatalogueRows, known?: KnownModels): LoadedCatalogue {
  const catalogue: LoadedCatalogue = {
    models: [],
    problems: [],
    fingerprint: catalogueFingerprint(rows),
  };
  const nowMs = Date.now();
  let changesAt = Infinity;
  const add = ({ model, until = Infinity }: MadeModel): void => {
    catalogue.models.push(model);
    changesAt = Math.min(changesAt, until);
  };
  for (const [id, row] of rows) {
    const text = known && canonicalRow(row);
    const before = known?.get(id);
    if (before && before.text === text && nowMs < (before.until ?? Infinity)) {
      add(before);
      continue;
    }
    const made = makeModel(id, row, nowMs);
    if (typeof made === 'string') catalogue.problems.push(`${id}: ${made}`);
    else {
      add(made);
      if (text !== undefined) known?.set(id, { text, ...made });
    }
  }
  if (changesAt < Infinity) catalogue.changesAt = changesAt;
  return catalogue;
}

/** The same where the same rows are, in whatever order. */
export function catalogueFingerprint(rows: CatalogueRows): string {
  return fingerprintOfText(canonicalCatalogue(rows));
}

interface MadeModel {
  readonly model: Model;
  /** Unix ms from which it has other prices; undefined: they stay. */
  readonly until: number | undefined;
}

/** Models by id, each with the text of the row that it was made of. */
export type KnownModels = Map<string, MadeModel & { readonly text: string }>;

/** The row with what it leaves out, or what is wrong with it, as the end of a sentence that begins with the field. */
export function readRow(id: string, row: JsonObject): CatalogueModel | string {
  const complete = withDefaults(id, row);
  if (!validate(complete)) return describe(validate.errors?.[0]);
  return findProblem(complete) ?? complete;
}

/** Of rows, which nobody changes, where prices stay: of those that come with the program, several parts make models. */
const steadyModels = new WeakMap<JsonObject, MadeModel>();

function makeModel(id: string, row: JsonObject, nowMs: number): MadeModel | string {
  const steady = steadyModels.get(row);
  if (steady) return steady;
  const complete = readRow(id, row);
  if (typeof complete === 'string') return complete;
  const priced = [complete, ...complete.routes];
  const made = {
    model: toModel(rowAt(complete, nowMs)),
    until: nextChangeOf(priced, nowMs),
  };
  if (priced.every((one) => one.price_changes === undefined)) steadyModels.set(row, made);
  return made;
}

/** @throws ConfigError when the file cannot be read, or is none of rows */
export function readOperatorRows(file: string): JsonObject[] {
  try {
    return rowsOf(readJsonFile(file));
  } catch (error) {
    throw new ConfigError([`GATEWAY_CATALOGUE ${messageOf(error)}`]);
  }
}

/** @throws Error whose message completes a sentence that begins with the variable's name */
function rowsOf(content: unknown): JsonObject[] {
  const rows = isJsonObject(content) ? content.models : content;
  if (!Array.isArray(rows) || !rows.every(isJsonObject)) {
    throw new Error('must name a file with {"models": […]} or a list of rows');
  }
  return rows;
}

/** Rows of a file that says for all of them where their prices are from; a row's own word stands over that. */
function sourcedRowsOf(content: unknown): JsonObject[] {
  const { source, as_of: day }: JsonObject = isJsonObject(content) ? content : {};
  const rows = rowsOf(content);
  return source === undefined ? rows : rows.map((row) => ({ source, as_of: day, ...row }));
}

/** What is said of prices beside themselves, and is not true of other prices. */
const OF_PRICES = ['service_tiers', 'regions', 'sizes', 'price_changes', 'source', 'as_of'];

/**
 * A row over another one, field by field and price by price. One that has prices of its own keeps nothing of what the
 * other says of prices: neither a tier nor a day to come gives a model another price than its operator's.
 */
export function mergeRow(base: JsonObject | undefined, row: JsonObject): JsonObject {
  if (!base) return row;
  const before = base.pricing;
  const own = row.pricing ?? before;
  const pricing = isJsonObject(before) && isJsonObject(own) ? { ...before, ...own } : own;
  const merged: JsonObject = { ...base, ...row, pricing };
  if (row.pricing !== undefined) {
    for (const field of OF_PRICES) if (row[field] === undefined) delete merged[field];
  }
  return merged;
}

function withDefaults(id: string, row: JsonObject): JsonObject {
  const slash = id.indexOf('/');
  const provider = id.slice(0, slash);
  return {
    ...DEFAULTS,
    name: id.slice(slash + 1),
    owned_by: provider,
    routes: [{ provider, model: id.slice(slash + 1), priority: 0 }],
    ...(row.kind === 'embedding' && EMBEDDING_DEFAULTS),
    ...row,
  };
}

// A test holds the schema against that of schemas.
const validate = new Ajv({
  allErrors: false,
  allowUnionTypes: true,
  meta: false,
  validateSchema: false,
  inlineRefs: false,
  code: { optimize: false },
}).compile<CatalogueModel>(catalogueModelSchema);

function toModel({ routes, ...model }: CatalogueModel): Model {
  return {
    ...model,
    catalogueId: model.id,
    pricing: {
      ...model.pricing,
      request: model.pricing.request ?? '0',
      image: model.pricing.image ?? '0',
    },
    routes: [...routes]
      .sort((one, other) => one.priority - other.priority)
      .map((route) => ({
        provider: route.provider,
        upstreamModel: route.model,
        priority: route.priority,
        ...exactPricesOf(model, route, route.provider === model.id.split('/', 1)[0]),
        timeouts: route.timeouts ?? {},
      })),
  };
}
