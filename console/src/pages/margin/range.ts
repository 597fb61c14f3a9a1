import { daysAgo } from '../../format/times';

/** As the URL has them. */
export interface RangeTexts {
  days?: string;
  from?: string;
  to?: string;
}

export interface Range {
  start_date: string;
  /** Undefined: up to now. */
  end_date?: string;
  /** For the headline of an empty page. */
  text: string;
}

export const DAY_RANGES = ['7', '30', '90', '365'];
const DEFAULT_DAYS = '30';
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Days (UTC) from one to another where the URL names them, else the last so many. */
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

/** What the list of ranges shows as chosen; `dates` where days are named. */
export function chosenRange({ days, from }: RangeTexts): string {
  if (from !== undefined) return 'dates';
  return days !== undefined && DAY_RANGES.includes(days) ? days : DEFAULT_DAYS;
}
