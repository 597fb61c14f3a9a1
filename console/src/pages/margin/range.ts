import { daysAgo } from '../../format/times';

/** The range filters in the URL. */
export interface RangeTexts {
  days?: string;
  from?: string;
  to?: string;
}

export interface Range {
  start_date: string;
  /** Undefined for ranges up to now. */
  end_date?: string;
  /** The range in words, for empty states. */
  text: string;
}

export const DAY_RANGES = ['7', '30', '90', '365'];
const DEFAULT_DAYS = '30';
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Returns the named UTC dates, or the last days. */
export function rangeOf({ days, from, to }: RangeTexts, now = new Date()): Range {
  if (from !== undefined && DAY.test(from)) {
    const end = to !== undefined && DAY.test(to) && to >= from ? to : undefined;
    return {
      start_date: from,
      ...(end !== undefined && { end_date: end }),
      text: end === undefined ? `since ${from}` : `from ${from} to ${end}`,
    };
  }
  const count = days !== undefined && DAY_RANGES.includes(days) ? days : DEFAULT_DAYS;
  return { start_date: daysAgo(Number(count) - 1, now), text: `in the last ${count} days` };
}

/** Returns the selected option: `dates` for a custom range. */
export function chosenRange({ days, from }: RangeTexts): string {
  if (from !== undefined) return 'dates';
  return days !== undefined && DAY_RANGES.includes(days) ? days : DEFAULT_DAYS;
}
