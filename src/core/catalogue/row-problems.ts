import type { ErrorObject } from 'ajv';
import type { CatalogueModel, PriceTiers, Route } from './catalogue.types.js';
import { isCompletePricing } from './exact-pricing-of.js';
import { startOf } from './price-changes.js';

/** Other names of ordinary service, which the row's own prices cover. */
const ORDINARY_TIERS: readonly string[] = ['auto', 'default', 'standard', 'standard_only'];
const ORDINARY_REGION = 'global';

/** Finds a semantic error in a valid row; the message starts with its id. */
export function findProblem(model: CatalogueModel): string | undefined {
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
  for (const [field, priced] of pricedParts(model)) {
    const problem = findTierProblem(model.kind, field, priced) ?? findDayProblem(field, priced);
    if (problem !== undefined) return problem;
  }
  return model.as_of === undefined || startOf(model.as_of) !== undefined
    ? undefined
    : `as_of ${NO_DAY}`;
}

type Priced = PriceTiers & Pick<Route, 'price_changes'>;

/** Returns the parts of a row that may have tiers, with their field prefixes. */
function pricedParts(model: CatalogueModel): [field: string, priced: Priced][] {
  const parts: [string, Priced][] = [
    ['', model],
    ...model.routes.map((route, index): [string, Priced] => [`routes.${index}.`, route]),
  ];
  return parts.flatMap(([field, priced]) => [
    [field, priced],
    ...(priced.price_changes ?? []).map((change, index): [string, Priced] => [
      `${field}price_changes.${index}.`,
      change,
    ]),
  ]);
}

function findTierProblem(
  kind: CatalogueModel['kind'],
  field: string,
  { long_prompts: longPrompts, service_tiers: tiers = {}, regions = {}, sizes = [] }: PriceTiers,
): string | undefined {
  if (kind !== 'chat') {
    if (longPrompts) return 'long_prompts is for chat models only';
    for (const [name, variants] of Object.entries({ service_tiers: tiers, regions })) {
      const long = Object.entries(variants).find(([, variant]) => variant.long_prompts);
      if (long) return `${field}${name}.${long[0]}.long_prompts is for chat models only`;
    }
  }
  const usual = ORDINARY_TIERS.find((tier) => tiers[tier]);
  if (usual) return `${field}service_tiers must not have "${usual}": it is priced by pricing`;
  if (regions[ORDINARY_REGION]) {
    return `${field}regions must not have "${ORDINARY_REGION}": it is priced by pricing`;
  }
  if (sizes.length > 0 && kind !== 'image' && kind !== 'video') {
    return `${field}sizes is for image and video models only`;
  }
  const names = sizes.map(({ size, quality }) => JSON.stringify([size, quality]));
  const unnamed = sizes.findIndex(
    ({ size, quality }) => size === undefined && quality === undefined,
  );
  if (unnamed >= 0) return `${field}sizes.${unnamed} must have "size" or "quality"`;
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  return twice >= 0 ? `${field}sizes.${twice} repeats a size and quality` : undefined;
}

const NO_DAY = 'must be a valid date such as 2026-12-01';

function findDayProblem(
  field: string,
  { price_changes: changes = [] }: Priced,
): string | undefined {
  const days = new Set<string>();
  for (const [index, { effective_from: day, ...prices }] of changes.entries()) {
    const name = `${field}price_changes.${index}.effective_from`;
    if (Object.keys(prices).length === 0) return `${name} changes no price`;
    if (startOf(day) === undefined) return `${name} ${NO_DAY}`;
    if (days.has(day)) return `${name} repeats the date of another change`;
    days.add(day);
  }
  return undefined;
}

/** Describes the first schema error; the message starts with the row's id. */
export function describe(error: ErrorObject | undefined): string {
  const field = error?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  return `${field === '' ? 'the row' : field} ${reasonOf(error, field)}`;
}

function reasonOf(error: ErrorObject | undefined, field: string): string {
  if (error?.keyword === 'pattern' && error.propertyName !== undefined) {
    return `must not have "${error.propertyName}": names are lower-case letters, digits, - and _`;
  }
  if (error?.keyword === 'pattern' && /(^|\.)pricing\./.test(field)) {
    return 'must be a decimal number of USD as text, such as "0.0000025"';
  }
  if (error?.keyword === 'pattern' && /(^|\.)(effective_from|as_of)$/.test(field)) return NO_DAY;
  const { additionalProperty: unknown }: { additionalProperty?: unknown } = error?.params ?? {};
  if (typeof unknown === 'string') return `must not have "${unknown}"`;
  return error?.message ?? 'is not valid';
}
