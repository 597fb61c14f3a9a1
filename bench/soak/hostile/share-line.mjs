import { priceOf } from './models.mjs';

export const LEAST_SHARE = 0.9;

/**
 * Returns the line that compares a charge with the price of what the vendor generated.
 *
 * @param found `seen` by the caller, the log's `row` and the vendor's `call`
 */
export function shareLine(what, { seen, row, call }) {
  const bound = `≥ ${LEAST_SHARE.toFixed(2)}, ≤ the hold`;
  if (row === undefined || call === undefined) {
    const text = seen.failure ?? seen.text.slice(0, 120);
    return {
      what,
      figure: `not measured: status ${seen.status} ${text}`.replaceAll('|', '/'),
      bound,
      isMet: false,
    };
  }
  const due = priceOf(call);
  const share = row.cost / due;
  const isWithinHold = seen.hold === undefined || row.cost <= seen.hold;
  const hold = seen.hold === undefined ? '' : `, hold ${seen.hold}`;
  return {
    what,
    figure: `${share.toFixed(2)} (${row.cost} of ${due}${hold})`,
    bound,
    isMet: share >= LEAST_SHARE && isWithinHold && row.shortfall === 0,
  };
}
