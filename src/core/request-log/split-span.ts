import { DAY_MS, HOUR_MS } from '../../platform/time/dates.js';

/** From an instant to just before another. */
export interface Span {
  readonly start: Date;
  readonly end: Date;
  /** Whether something of its last millisecond is to be left out, so that its hour is read by its rows. */
  readonly isCut?: boolean;
}

/** The condition that a column lies within a span. @param parameter takes a value and its type, and gives its place */
export function withinSpan(
  column: string,
  { start, end }: Span,
  parameter: (value: unknown, type: string) => string,
): string {
  return `${column} >= ${parameter(start, 'timestamptz')} AND ${column} < ${parameter(end, 'timestamptz')}`;
}

/** A span of time, cut where whole days and hours (UTC) begin and end. */
export interface SplitSpan {
  /** Whole days; empty when its start is not before its end, as may be every other span here. */
  days: Span;
  /** Of these the whole calendar months, and the days before and after them. */
  months: Span;
  daysBefore: Span;
  daysAfter: Span;
  /** The whole hours before and after those days. */
  hoursBefore: Span;
  hoursAfter: Span;
  /** All of the above. */
  whole: Span;
  /** What is left at the sides, less than an hour each. */
  rowsBefore: Span;
  rowsAfter: Span;
}

/** Beyond everything that a log holds, and within everything that PostgreSQL takes. */
const FIRST_MS = 0;
const LAST_MS = Date.UTC(3000, 0);

/** The span that a range with open sides stands for; its end is never before its start. */
export function toSpan({ start, end }: { start?: Date; end?: Date }): Span {
  const startMs = clamp(start?.getTime() ?? FIRST_MS);
  const endMs = Math.max(startMs, clamp(end?.getTime() ?? LAST_MS));
  return { start: new Date(startMs), end: new Date(endMs) };
}

/** Cuts a span into what sums of days and hours tell of it, and what only rows do. */
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

/** A month, day or hour, or several, whose sums are added or taken away. */
export interface Cover extends Span {
  readonly grain: 'hour' | 'day' | 'month';
  readonly sign: 1 | -1;
}

/** What reading the sums of a month, a day or an hour takes, about. */
const READING = { month: 1, day: 1, hour: 0.25 };

/**
 * Sums that come to those of a span of whole hours, and as few as may be: of most of a month, or of a day, all
 * of it is read and the rest is taken away.
 *
 * @param coarsest what is not to be told apart within
 * @param now after which nothing is expected, so that taking it away is free
 */
export function coverSpan({ start, end }: Span, coarsest: Cover['grain'], now: Date): Cover[] {
  const cover = (grain: Cover['grain'], fromMs: number, toMs: number, sign: 1 | -1): Cover[] => {
    if (fromMs >= toMs) return [];
    if (grain === 'hour') return [{ grain, sign, ...span(fromMs, toMs) }];
    const next = grain === 'month' ? 'day' : 'hour';
    const begin = (ms: number) => (grain === 'month' ? monthOf(ms, 'floor') : floor(ms, DAY_MS));
    const end = (ms: number) => (grain === 'month' ? monthOf(ms, 'ceil') : ceil(ms, DAY_MS));
    /** Of one month or day a part. */
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

/** Parts that follow one another are one. */
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

/** The beginning of an instant's month, or of the next unless it is one itself. */
function monthOf(ms: number, end: 'floor' | 'ceil'): number {
  const date = new Date(ms);
  const floorMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const isWithin = end === 'ceil' && floorMs < ms;
  return isWithin ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) : floorMs;
}

function span(startMs: number, endMs: number): Span {
  return { start: new Date(startMs), end: new Date(endMs) };
}
