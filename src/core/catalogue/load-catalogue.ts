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

/**
 * Defaults of a row, so that an operator's row for a local server needs only an id and two prices.
 */
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

/** The server decides whether it can reduce dimensions. */
const EMBEDDING_DEFAULTS = {
  architecture: null,
  supported_parameters: ['dimensions', 'encoding_format', 'user'],
};

export interface LoadedCatalogue {
  models: Model[];
  /** Excluded rows with reasons; a missing price never makes a model free. */
  problems: string[];
  /** 12 hexadecimal digits that identify the rows. */
  fingerprint: string;
  /** Unix ms of the next price change; undefined without one. */
  changesAt?: number | undefined;
}

/** Catalogue rows by id, as in files. */
export type CatalogueRows = ReadonlyMap<string, JsonObject>;

/**
 * Loads the built-in rows and merges the operator's file by model id: its fields replace the
 * built-in ones, prices key by key.
 *
 * @param operatorFile path of a file with `{"models": […]}` or a plain array of rows
 * @throws ConfigError when the operator's file cannot be read
 */
export function loadCatalogue(operatorFile?: string): LoadedCatalogue {
  const operatorRows = operatorFile === undefined ? [] : readOperatorRows(operatorFile);
  return toCatalogue(mergeRows(builtInRows(), operatorRows));
}

let builtIn: CatalogueRows | undefined;

/** Returns the built-in rows. */
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

/** Merges rows over others by id, field by field and price by price; `removed` deletes a model. */
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
 * Validates rows and converts their prices.
 *
 * @param known earlier models, reused for unchanged rows
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

/** Returns the fingerprint of rows in any order. */
export function catalogueFingerprint(rows: CatalogueRows): string {
  return fingerprintOfText(canonicalCatalogue(rows));
}

interface MadeModel {
  readonly model: Model;
  /** Unix ms of the next price change; undefined without one. */
  readonly until: number | undefined;
}

/** Models by id, each with the text of its row. */
export type KnownModels = Map<string, MadeModel & { readonly text: string }>;

/** Returns the row with defaults, or an error message that starts with the field. */
export function readRow(id: string, row: JsonObject): CatalogueModel | string {
  const complete = withDefaults(id, row);
  if (!validate(complete)) return describe(validate.errors?.[0]);
  return findProblem(complete) ?? complete;
}

/**
 * Cached models of immutable rows without price changes, since several parts convert the built-in
 * rows.
 */
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

/**
 * @throws ConfigError when the file cannot be read or contains no rows
 */
export function readOperatorRows(file: string): JsonObject[] {
  try {
    return rowsOf(readJsonFile(file));
  } catch (error) {
    throw new ConfigError([`GATEWAY_CATALOGUE ${messageOf(error)}`]);
  }
}

/**
 * @throws Error whose message completes a sentence that starts with the variable's name
 */
function rowsOf(content: unknown): JsonObject[] {
  const rows = isJsonObject(content) ? content.models : content;
  if (!Array.isArray(rows) || !rows.every(isJsonObject)) {
    throw new Error('must name a file with {"models": […]} or a list of rows');
  }
  return rows;
}

/** Returns the rows of a file with a common price source; a row's own takes precedence. */
function sourcedRowsOf(content: unknown): JsonObject[] {
  const { source, as_of: day }: JsonObject = isJsonObject(content) ? content : {};
  const rows = rowsOf(content);
  return source === undefined ? rows : rows.map((row) => ({ source, as_of: day, ...row }));
}

/** Data that belongs to prices and does not apply to others. */
const OF_PRICES = ['service_tiers', 'regions', 'sizes', 'price_changes', 'source', 'as_of'];

/**
 * Merges a row over another, field by field and price by price. A row with its own prices keeps
 * nothing of the other's price data, so that no tier or future change overrides the operator's
 * price.
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

// A test validates the schema.
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
