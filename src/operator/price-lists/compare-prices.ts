import type { JsonObject } from '../../platform/http/json-body.js';
import { listedAs, vendorOf } from '../../vendors/vendors.js';
import type { CatalogueModel, Pricing, Route } from '../../core/catalogue/catalogue.types.js';
import { mergeRow, readRow, type CatalogueRows } from '../../core/catalogue/load-catalogue.js';
import { rowAt } from '../../core/catalogue/price-changes.js';
import { addableRows, fits, isFree, withoutUndefined } from './addable-rows.js';
import type { ListedModel, PriceList, WholePricing } from './price-list.js';
import { movesOf, type PriceMove } from './price-moves.js';

const MAX_SOURCE_LENGTH = 200;
const ALL = 'all';

/** A price of a model's route that differs from the list. */
export interface ModelMove extends PriceMove {
  readonly id: string;
  readonly provider: string;
}

/** Result of comparing a catalogue with a list. */
export interface Comparison {
  readonly moves: readonly ModelMove[];
  /** Ids of listed rows, up to date as they are or through `rows`. */
  readonly confirmed: readonly string[];
  /** Ids of rows that the list lacks. */
  readonly unlisted: readonly string[];
  /** Unusable entries, one line each. */
  readonly problems: readonly string[];
  /** Listed models of supported vendors without a row, as row ids. */
  readonly others: readonly string[];
  /** Requested models that were not added because their zero price was not accepted. */
  readonly freeOnes: readonly string[];
  /** Rows to merge over the catalogue: changed prices, new rows and confirmations. */
  readonly rows: readonly JsonObject[];
}

export interface CompareOptions {
  /** `all`, row ids, or `<id>:<unit>`: large changes to apply anyway. */
  readonly accept?: readonly string[];
  /** Patterns of ids to add, where `*` matches anything. */
  readonly add?: readonly string[];
  /** Source of the list, recorded in the rows. */
  readonly source: string;
  /** Day on which the list was read. */
  readonly today: string;
}

/** Compares current row prices with a list. Pure. */
export function comparePrices(
  rows: CatalogueRows,
  list: PriceList,
  { accept = [], add = [], source: wholeSource, today }: CompareOptions,
): Comparison {
  const source = wholeSource.slice(0, MAX_SOURCE_LENGTH);
  const moves: ModelMove[] = [];
  const confirmed: string[] = [];
  const unlisted: string[] = [];
  const problems: string[] = [];
  const written: JsonObject[] = [];
  const known = new Set<ListedModel>();
  for (const [id, row] of rows) {
    const whole = readRow(id, row);
    if (typeof whole === 'string' || vendorOf(id.split('/', 1)[0]!)?.isStandIn) continue;
    const now = rowAt(whole, Date.parse(`${today}T00:00:00Z`));
    const accepts = (unit: string): boolean =>
      [ALL, id, `${id}:${unit}`].some((word) => accept.includes(word));
    const seen = compareRow(now, list, today, accepts);
    for (const each of seen.found) known.add(each);
    moves.push(...seen.moves);
    problems.push(...seen.problems);
    if (!seen.isListed) {
      if (seen.problems.length === 0) unlisted.push(id);
      if (!seen.changed) continue;
    }
    const isConfirmed = seen.isListed && !seen.moves.some(({ heldBack }) => heldBack);
    if (isConfirmed) confirmed.push(id);
    if (isConfirmed && !seen.changed && row.source === source && row.as_of === today) continue;
    if (!isConfirmed && !seen.changed) continue;
    const origin = isConfirmed
      ? { source, as_of: today }
      : { source: row.source, as_of: row.as_of };
    written.push(
      withoutUndefined({ id, ...(seen.changed && changesOf(whole, seen.changed)), ...origin }),
    );
  }
  const additions = addableRows(rows, list, known);
  const wanted = additions.filter(({ id }) => add.some((pattern) => fits(id, pattern)));
  const freeOnes: string[] = [];
  for (const { id, row } of wanted) {
    const problem = readRow(id, row);
    if (typeof problem === 'string') problems.push(`${id} is not added: ${problem}`);
    else if (isFree(problem) && !accept.some((word) => word === ALL || word === id)) {
      freeOnes.push(id);
    } else written.push({ ...row, source, as_of: today });
  }
  const others = additions.map(({ id }) => id);
  const usable = written.filter((row) => {
    const id = String(row.id);
    const problem = readRow(id, mergeRow(rows.get(id), row));
    if (typeof problem === 'string') problems.push(`${id} is left unchanged: ${problem}`);
    return typeof problem !== 'string';
  });
  return { moves, confirmed, unlisted, problems, others, freeOnes, rows: usable };
}

interface RowComparison {
  /** True when the list has the primary route's model. */
  isListed: boolean;
  found: ListedModel[];
  moves: ModelMove[];
  problems: string[];
  /** The changed row; undefined when nothing changes. */
  changed?: CatalogueModel;
}

/** A route without its own prices follows the row, unless the list has different prices for it. */
function compareRow(
  now: CatalogueModel,
  list: PriceList,
  today: string,
  accepts: (unit: string) => boolean,
): RowComparison {
  const seen: RowComparison = { isListed: false, found: [], moves: [], problems: [] };
  const { id, kind } = now;
  let row: CatalogueModel = now;
  for (const route of [...now.routes].sort((one, other) => one.priority - other.priority)) {
    const listed = findListed(list, route.provider, route.model.replace(/\*$/, ''));
    if (!listed) continue;
    seen.found.push(listed);
    const isPrimary = route.priority === 0;
    if (listed.problem !== undefined) {
      seen.problems.push(`${id}: ${listed.provider}/${listed.model} ${listed.problem}`);
      continue;
    }
    if (isPrimary) seen.isListed = true;
    const before = isPrimary ? pricesOfRow(row, route, today) : pricesOfRoute(row, route);
    const reachable = withoutUnreachable(listed, row.context_length);
    const { price_changes: _, ...steady } = reachable;
    const wanted = isPrimary ? reachable : steady;
    const { moves, prices } = movesOf(kind, before, wanted, accepts);
    seen.moves.push(...moves.map((move) => ({ id, provider: route.provider, ...move })));
    if (moves.every(({ heldBack }) => heldBack)) continue;
    row = isPrimary ? withPrices(row, route, prices) : withRoutePrices(row, route, prices);
    seen.changed = row;
    if (!isPrimary) continue;
    const wider = widerContext(before, row, listed.contextLength);
    if (wider === undefined) continue;
    seen.moves.push({
      id,
      provider: route.provider,
      unit: 'context_length',
      before: String(row.context_length),
      instead: String(row.context_length),
      after: String(wider),
    });
    seen.changed = row = { ...row, context_length: wider };
  }
  return seen;
}

/** An unreadable entry counts only if no other name matches the model. */
function findListed(list: PriceList, provider: string, model: string): ListedModel | undefined {
  const found = listedAs(provider).flatMap((name) => list.find(name, model) ?? []);
  return found.find(({ problem }) => problem === undefined) ?? found[0];
}

/** Removes tiers that start at or beyond the context length, which some lists contain. */
function withoutUnreachable(listed: ListedModel, contextLength: number): WholePricing {
  const { long_prompts: steps, ...others } = listed.prices;
  const ends = Math.max(contextLength, listed.contextLength ?? Infinity);
  const reachable = steps?.filter(({ above }) => above < ends) ?? [];
  return { ...others, ...(reachable.length > 0 && { long_prompts: reachable }) };
}

/** Returns prices of the row's vendor, including changes that have taken effect. */
function pricesOfRow(row: CatalogueModel, route: Route, today: string): WholePricing {
  const { service_tiers: tiers, price_changes: changes } = row;
  const steps = route.long_prompts ?? row.long_prompts;
  const toCome = changes?.filter((change) => change.effective_from > today);
  return {
    pricing: { ...row.pricing, ...route.pricing },
    ...(steps && { long_prompts: steps }),
    ...((route.service_tiers ?? tiers) && { service_tiers: route.service_tiers ?? tiers! }),
    ...(toCome && toCome.length > 0 && { price_changes: toCome }),
  };
}

function pricesOfRoute(row: CatalogueModel, route: Route): WholePricing {
  const steps = route.long_prompts ?? row.long_prompts;
  return {
    pricing: { ...row.pricing, ...route.pricing },
    ...(steps && { long_prompts: steps }),
    ...(route.service_tiers && { service_tiers: route.service_tiers }),
  };
}

function withPrices(row: CatalogueModel, route: Route, prices: WholePricing): CatalogueModel {
  const { pricing, ...tiers } = prices;
  const { price_changes: _, ...others } = row;
  const isOwn = route.pricing !== undefined || route.long_prompts !== undefined;
  const routes = row.routes.map((one) =>
    one.priority === 0 && isOwn ? withRow(one, tiers, pricing) : one,
  );
  return { ...others, ...tiers, pricing: { ...row.pricing, ...pricing }, routes };
}

/** A primary route with its own prices also gets the new ones. */
function withRow(route: Route, tiers: Partial<WholePricing>, pricing: Partial<Pricing>): Route {
  return {
    ...route,
    ...(route.pricing && { pricing: { ...route.pricing, ...pricing } }),
    ...(route.long_prompts && tiers.long_prompts && { long_prompts: tiers.long_prompts }),
  };
}

function withRoutePrices(row: CatalogueModel, route: Route, prices: WholePricing): CatalogueModel {
  const { pricing, ...tiers } = prices;
  const units = Object.entries(pricing).filter(([unit, price]) =>
    Object.entries(row.pricing).every(([own, of]) => own !== unit || of !== price),
  );
  const own = { ...route.pricing, ...Object.fromEntries(units) };
  const changed: Route = { ...route, ...tiers, pricing: own };
  return { ...row, routes: row.routes.map((one) => (one === route ? changed : one)) };
}

/** Extends a context that ended where higher prices begin, now that they are known. */
function widerContext(
  before: WholePricing,
  row: CatalogueModel,
  listed: number | undefined,
): number | undefined {
  const first = row.long_prompts?.[0]?.above;
  if (before.long_prompts || first === undefined || listed === undefined) return undefined;
  return row.context_length <= first + 1 && listed > row.context_length ? listed : undefined;
}

/** Returns the changed fields. Prices are replaced as a whole, so it repeats unchanged ones. */
function changesOf(before: CatalogueModel, after: CatalogueModel): JsonObject {
  const units = Object.entries(after.pricing).filter(
    ([unit, price]) =>
      !Object.entries(before.pricing).some(([own, of]) => own === unit && of === price),
  );
  const { long_prompts, service_tiers, regions, sizes, price_changes, context_length } = after;
  const isSame = JSON.stringify(before.routes) === JSON.stringify(after.routes);
  return {
    ...((units.length > 0 || before.price_changes) && { pricing: Object.fromEntries(units) }),
    long_prompts,
    service_tiers,
    regions,
    sizes,
    price_changes,
    ...(context_length !== before.context_length && { context_length }),
    ...(!isSame && { routes: after.routes }),
  };
}
