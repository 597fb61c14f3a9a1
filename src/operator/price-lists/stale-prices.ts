import { vendorOf } from '../../vendors/vendors.js';
import type { CatalogueRows } from '../../core/catalogue/load-catalogue.js';
import { startOf } from '../../core/catalogue/price-changes.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Age at which a price should be confirmed again. */
export const STALE_AFTER_DAYS = 60;

/** A row whose prices have not been confirmed for long. */
export interface StaleRow {
  readonly id: string;
  /** Undefined when the row does not say. */
  readonly asOf: string | undefined;
  readonly source: string | undefined;
}

/** Returns stale rows, oldest first, without stand-in vendors, whose prices never change. Pure. */
export function staleRowsOf(
  rows: CatalogueRows,
  nowMs: number,
  days = STALE_AFTER_DAYS,
): StaleRow[] {
  const stale: StaleRow[] = [];
  for (const [id, { as_of: day, source }] of rows) {
    if (vendorOf(id.split('/', 1)[0]!)?.isStandIn) continue;
    const asOf = typeof day === 'string' ? day : undefined;
    const readMs = asOf === undefined ? undefined : startOf(asOf);
    if (readMs !== undefined && nowMs - readMs < (days + 1) * DAY_MS) continue;
    stale.push({ id, asOf, source: typeof source === 'string' ? source : undefined });
  }
  return stale.sort((one, other) => ((one.asOf ?? '') < (other.asOf ?? '') ? -1 : 1));
}
