import type { CatalogueModel, PriceChange, Pricing } from './catalogue.types.js';

/** Returns the start of a day in Unix ms, UTC; undefined for an invalid date. */
export function startOf(day: string): number | undefined {
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms)) return undefined;
  return new Date(ms).toISOString().startsWith(day) ? ms : undefined;
}

/** A row, route or account with dated price changes. */
interface Changing {
  readonly pricing?: Partial<Pricing> | undefined;
  readonly price_changes?: readonly PriceChange[] | undefined;
}

/** Applies all changes that have taken effect, in order. */
function pricesAt<Priced extends Changing>(priced: Priced, nowMs: number): Priced {
  return inOrder(priced.price_changes)
    .filter((change) => (startOf(change.effective_from) ?? Infinity) <= nowMs)
    .reduce((before, change) => changed(before, change), priced);
}

/** Sorts changes by date. */
export function inOrder(changes: readonly PriceChange[] = []): PriceChange[] {
  return [...changes].sort((one, other) => (one.effective_from < other.effective_from ? -1 : 1));
}

/** Applies a change: prices individually, everything else as a whole. */
export function changed<Priced extends Changing>(before: Priced, change: PriceChange): Priced {
  const { effective_from: _, pricing, ...tiers } = change;
  return { ...before, ...tiers, pricing: { ...before.pricing, ...pricing } };
}

/** Returns a row with its prices at a time, routes included. */
export function rowAt(row: CatalogueModel, nowMs: number): CatalogueModel {
  return {
    ...pricesAt(row, nowMs),
    routes: row.routes.map((route) => pricesAt(route, nowMs)),
  };
}

/** Returns the next change of any of these in Unix ms; undefined without one. */
export function nextChangeOf(all: readonly Changing[], nowMs: number): number | undefined {
  const starts = all
    .flatMap((priced) => priced.price_changes ?? [])
    .map((change) => startOf(change.effective_from) ?? 0)
    .filter((start) => start > nowMs);
  return starts.length === 0 ? undefined : Math.min(...starts);
}
