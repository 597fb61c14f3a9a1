import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import { ConfigError, readJsonFile } from '../../platform/config/config-error.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { catalogueModelSchema } from './catalogue.schema.js';
import type { CatalogueModel, Model } from './catalogue.types.js';
import { exactPricingOf, isCompletePricing } from './exact-pricing-of.js';
import { messageOf } from '../../platform/errors/thrown.js';
const BUILT_IN = new URL('./data/', import.meta.url);

const FINGERPRINT_DIGITS = 12;

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
}

/**
 * Reads the built-in rows and merges the operator's file over them by model id: fields given
 * there replace the built-in ones, prices key by key.
 *
 * @param operatorFile path of a file with `{"models": […]}` or a plain array of rows
 * @throws ConfigError when the operator's file cannot be read at all
 */
export function loadCatalogue(operatorFile?: string): LoadedCatalogue {
  const rows = new Map<string, JsonObject>();
  for (const file of readdirSync(BUILT_IN)
    .filter((name) => name.endsWith('.json'))
    .sort()) {
    const content: unknown = JSON.parse(readFileSync(new URL(file, BUILT_IN), 'utf8'));
    for (const row of rowsOf(content)) rows.set(String(row.id), row);
  }
  if (operatorFile !== undefined) {
    for (const row of readOperatorRows(operatorFile)) {
      const id = String(row.id);
      rows.set(id, mergeRow(rows.get(id), row));
    }
  }

  const fingerprint = createHash('sha256')
    .update(JSON.stringify([...rows]))
    .digest('hex');
  const catalogue: LoadedCatalogue = {
    models: [],
    problems: [],
    fingerprint: fingerprint.slice(0, FINGERPRINT_DIGITS),
  };
  for (const [id, row] of rows) {
    const complete = withDefaults(id, row);
    if (!validate(complete)) {
      catalogue.problems.push(`${id}: ${describe(validate.errors?.[0])}`);
      continue;
    }
    const problem = findProblem(complete);
    if (problem === undefined) catalogue.models.push(toModel(complete));
    else catalogue.problems.push(`${id}: ${problem}`);
  }
  return catalogue;
}

function readOperatorRows(file: string): JsonObject[] {
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

function mergeRow(base: JsonObject | undefined, row: JsonObject): JsonObject {
  if (!base) return row;
  const before = base.pricing;
  const own = row.pricing ?? before;
  const pricing = isJsonObject(before) && isJsonObject(own) ? { ...before, ...own } : own;
  return { ...base, ...row, pricing };
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

const validate = new Ajv({ allErrors: false, allowUnionTypes: true }).compile<CatalogueModel>(
  catalogueModelSchema,
);

function findProblem(model: CatalogueModel): string | undefined {
  const primary = model.routes.find((route) => route.priority === 0);
  if (!primary) return 'no route has priority 0';
  if (primary.provider !== model.id.split('/', 1)[0]) {
    return `the primary route is at ${primary.provider}, which is not the id's first part`;
  }
  const priorities = new Set(model.routes.map((route) => route.priority));
  if (priorities.size < model.routes.length) return 'two routes have the same priority';
  const unpriced = model.routes.find(
    (route) => !isCompletePricing(model.kind, { ...model.pricing, ...route.pricing }),
  );
  if (unpriced) return `no complete price for a ${model.kind} model at ${unpriced.provider}`;
  return undefined;
}

function describe(error: ErrorObject | undefined): string {
  const field = error?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  return `${field === '' ? 'the row' : field} ${error?.message ?? 'is not valid'}`;
}

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
        pricing: exactPricingOf({ ...model.pricing, ...route.pricing }),
        timeouts: route.timeouts ?? {},
      })),
  };
}
