import { DAY_MS, HOUR_MS } from '../../platform/time/dates.js';

/** A time range with an exclusive end. */
export interface Span {
  readonly start: Date;
  readonly end: Date;
  /** True when part of the last millisecond is excluded, so that its hour must be read from rows. */
  readonly isCut?: boolean;
}

/**
 * Returns the condition for a column within a span.
 *
 * @param parameter adds a typed value to the statement's parameters
 */
export function withinSpan(
  column: string,
  { start, end }: Span,
  parameter: (value: unknown, type: string) => string,
): string {
  return `${column} >= ${parameter(start, 'timestamptz')} AND ${column} < ${parameter(end, 'timestamptz')}`;
}

/** A span split at whole days and hours (UTC). */
export interface SplitSpan {
  /** Whole days; empty unless start is before end, like all spans here. */
  days: Span;
  /** Whole calendar months of those days, and the days around them. */
  months: Span;
  daysBefore: Span;
  daysAfter: Span;
  /** Whole hours around those days. */
  hoursBefore: Span;
  hoursAfter: Span;
  /** All of the above. */
  whole: Span;
  /** Remainders at both ends, less than an hour each. */
  rowsBefore: Span;
  rowsAfter: Span;
}

/** Before everything in a log, and within PostgreSQL's range. */
const FIRST_MS = 0;
const LAST_MS = Date.UTC(3000, 0);

/** Returns the span of a range with optional bounds; never ends before it starts. */
export function toSpan({ start, end }: { start?: Date; end?: Date }): Span {
  const startMs = clamp(start?.getTime() ?? FIRST_MS);
  const endMs = Math.max(startMs, clamp(end?.getTime() ?? LAST_MS));
  return { start: new Date(startMs), end: new Date(endMs) };
}

/** Splits a span into parts that sums cover, and parts that need rows. */
export function splitSpan({ start, end, isCut }: Span): SplitSpan {
  const startMs = start.getTime();
  const endMs = end.getTime();
  const firstHourMs = Math.min(ceil(startMs, HOUR_MS), endMs);
  const lastHourMs = Math.max(floor(isCut ? endMs - 1 : endMs, HOUR_MS), firstHourMs);
  const firstDayMs = Math.min(ceil(firstHourMs, DAY_MS), lastHourMs);
  const lastDayMs = Math.max(floor(lastHourMs, DAY_MS), firstDayMs);
  const firstMonthMs = Math.min(monthOf(firstDayMs, 'ceil'), lastDayMs);
  const lastMonthMs = Math.max(monthOf(lastDayMs, 'floor'), firstMonthMs);
  return {
    days: span(firstDayMs, lastDayMs),
    months: span(firstMonthMs, lastMonthMs),
    daysBefore: span(firstDayMs, firstMonthMs),
    daysAfter: span(lastMonthMs, lastDayMs),
    hoursBefore: span(firstHourMs, firstDayMs),
    hoursAfter: span(lastDayMs, lastHourMs),
    whole: span(firstHourMs, lastHourMs),
    rowsBefore: span(startMs, firstHourMs),
    rowsAfter: span(lastHourMs, endMs),
  };
}

/** Months, days or hours whose sums are added or subtracted. */
export interface Cover extends Span {
  readonly grain: 'hour' | 'day' | 'month';
  readonly sign: 1 | -1;
}

/** Approximate cost of reading the sums of a month, day or hour. */
const READING = { month: 1, day: 1, hour: 0.25 };

/**
 * Covers a span of whole hours with as few sums as possible: most of a month or day is read as the
 * whole minus the rest.
 *
 * @param coarsest longest period that may be read as one
 * @param now no rows exist after it, so subtracting that part is free
 */
export function coverSpan({ start, end }: Span, coarsest: Cover['grain'], now: Date): Cover[] {
  const cover = (grain: Cover['grain'], fromMs: number, toMs: number, sign: 1 | -1): Cover[] => {
    if (fromMs >= toMs) return [];
    if (grain === 'hour') return [{ grain, sign, ...span(fromMs, toMs) }];
    const next = grain === 'month' ? 'day' : 'hour';
    const begin = (ms: number) => (grain === 'month' ? monthOf(ms, 'floor') : floor(ms, DAY_MS));
    const end = (ms: number) => (grain === 'month' ? monthOf(ms, 'ceil') : ceil(ms, DAY_MS));
    /** Covers part of a month or day. */
    const part = (partMs: number, untilMs: number): Cover[] => {
      if (partMs >= untilMs) return [];
      const [firstMs, lastMs] = [begin(partMs), end(untilMs)];
      const added = cover(next, partMs, untilMs, sign);
      const taken: Cover[] = [
        { grain, sign, ...span(firstMs, lastMs) },
        ...cover(next, firstMs, partMs, sign === 1 ? -1 : 1),
        ...cover(next, untilMs, lastMs, sign === 1 ? -1 : 1),
      ];
      return costOf(taken, now) < costOf(added, now) ? taken : added;
    };
    const wholeMs = end(fromMs);
    const untilMs = begin(toMs);
    if (wholeMs > untilMs) return part(fromMs, toMs);
    const whole: Cover[] = wholeMs < untilMs ? [{ grain, sign, ...span(wholeMs, untilMs) }] : [];
    return joined([...part(fromMs, wholeMs), ...whole, ...part(untilMs, toMs)]);
  };
  return cover(coarsest, start.getTime(), end.getTime(), 1);
}

function costOf(parts: readonly Cover[], now: Date): number {
  return parts.reduce((cost, { grain, start, end }) => {
    const ms = Math.max(0, Math.min(end.getTime(), now.getTime()) - start.getTime());
    const units = { month: Math.ceil(ms / (31 * DAY_MS)), day: ms / DAY_MS, hour: ms / HOUR_MS };
    return cost + Math.ceil(units[grain]) * READING[grain];
  }, 0);
}

/** Merges adjacent parts. */
function joined(parts: readonly Cover[]): Cover[] {
  const found: Cover[] = [];
  for (const part of parts) {
    const before = found.findIndex(
      ({ grain, sign, end }) =>
        grain === part.grain && sign === part.sign && end.getTime() === part.start.getTime(),
    );
    if (before < 0) found.push(part);
    else found[before] = { ...part, start: found[before]!.start };
  }
  return found;
}

function clamp(ms: number): number {
  return Math.min(Math.max(ms, FIRST_MS), LAST_MS);
}

function floor(ms: number, unitMs: number): number {
  return Math.floor(ms / unitMs) * unitMs;
}

function ceil(ms: number, unitMs: number): number {
  return Math.ceil(ms / unitMs) * unitMs;
}

/** Returns the start of an instant's month, or of the next one unless it is a start itself. */
function monthOf(ms: number, end: 'floor' | 'ceil'): number {
  const date = new Date(ms);
  const floorMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const isWithin = end === 'ceil' && floorMs < ms;
  return isWithin ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) : floorMs;
}

function span(startMs: number, endMs: number): Span {
  return { start: new Date(startMs), end: new Date(endMs) };
}
