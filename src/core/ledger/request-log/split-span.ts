import { DAY_MS, HOUR_MS } from '../../../platform/time/dates.js';

/** From an instant to just before another. */
export interface Span {
  readonly start: Date;
  readonly end: Date;
  /** Whether something of its last millisecond is to be left out, so that its hour is read by its rows. */
  readonly isCut?: boolean;
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
