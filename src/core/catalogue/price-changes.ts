import type { CatalogueModel, PriceChange, Pricing } from './catalogue.types.js';

/** Unix ms at which a day begins, UTC; undefined: it is none of the calendar. */
export function startOf(day: string): number | undefined {
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms)) return undefined;
  return new Date(ms).toISOString().startsWith(day) ? ms : undefined;
}

/** What has prices that change on days: a row, a route of it, an account. */
interface Changing {
  readonly pricing?: Partial<Pricing> | undefined;
  readonly price_changes?: readonly PriceChange[] | undefined;
}

/** With the prices that hold at a moment: those of each change that has begun stand over those before. */
function pricesAt<Priced extends Changing>(priced: Priced, nowMs: number): Priced {
  return inOrder(priced.price_changes)
    .filter((change) => (startOf(change.effective_from) ?? Infinity) <= nowMs)
    .reduce((before, change) => changed(before, change), priced);
}

/** Changes from the first day to the last. */
export function inOrder(changes: readonly PriceChange[] = []): PriceChange[] {
  return [...changes].sort((one, other) => (one.effective_from < other.effective_from ? -1 : 1));
}

/** Prices with a change over them: single prices in place of their own, everything else as a whole. */
export function changed<Priced extends Changing>(before: Priced, change: PriceChange): Priced {
  const { effective_from: _, pricing, ...tiers } = change;
  return { ...before, ...tiers, pricing: { ...before.pricing, ...pricing } };
}

/** A row with the prices that hold at a moment, its routes included. */
export function rowAt(row: CatalogueModel, nowMs: number): CatalogueModel {
  return {
    ...pricesAt(row, nowMs),
    routes: row.routes.map((route) => pricesAt(route, nowMs)),
  };
}

/** Unix ms of the first change to come of any of these; undefined: there is none. */
export function nextChangeOf(all: readonly Changing[], nowMs: number): number | undefined {
  const starts = all
    .flatMap((priced) => priced.price_changes ?? [])
    .map((change) => startOf(change.effective_from) ?? 0)
    .filter((start) => start > nowMs);
  return starts.length === 0 ? undefined : Math.min(...starts);
}
