const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const LOCAL_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** Formats a timestamp in the viewer's time zone. */
export function formatTime(at: string | Date): string {
  return LOCAL.format(new Date(at));
}

/** Formats the day of a timestamp in the viewer's time zone. */
export function formatDay(at: string | Date): string {
  return LOCAL_DAY.format(new Date(at));
}

/** Formats a timestamp in UTC, to the second: `2026-11-23 11:59:50 UTC`. */
export function formatUtc(at: string | Date): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const UTC_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const SHORT_DAY: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' };
const AXIS_UTC_DAY = new Intl.DateTimeFormat(undefined, { ...SHORT_DAY, timeZone: 'UTC' });
const AXIS_DAY = new Intl.DateTimeFormat(undefined, SHORT_DAY);
const AXIS_TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** Returns whether all times are midnight UTC, like the API's days. */
export function isDays(times: readonly string[]): boolean {
  return times.length > 0 && times.every((time) => Date.parse(time) % 86_400_000 === 0);
}

/** Returns the formatter for chart times: days by their UTC name, other times in the viewer's zone. */
export function timeFormatOf(times: readonly string[]): (at: string) => string {
  return isDays(times) ? (at) => UTC_DAY.format(new Date(at)) : formatTime;
}

/** The same, short enough for an axis. Takes Unix seconds. */
export function axisTimeOf(times: readonly string[]): (seconds: number) => string {
  if (isDays(times)) return (seconds) => AXIS_UTC_DAY.format(seconds * 1_000);
  return (seconds) => {
    const at = new Date(seconds * 1_000);
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
    return (isMidnight ? AXIS_DAY : AXIS_TIME).format(at);
  };
}

const MS_PER = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Formats milliseconds in the two largest units: `840 ms`, `2.4 s`, `3 min 5 s`, `2 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const at = MS_PER.findIndex(([, size]) => ms >= size);
  const parts = MS_PER.slice(at, at + 2).map(([unit, size], index, [first]) => {
    const remainder = index === 0 || !first ? ms : ms % first[1];
    return [Math.floor(remainder / size), unit] as const;
  });
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** Returns the UTC date `days` before `now`, in the API's format. */
export function daysAgo(days: number, now = new Date()): string {
  return new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}

/** Formats a timestamp for `<input type="datetime-local">`, to the minute, in the viewer's zone. */
export function toLocalInput(at: string | null | undefined): string {
  const time = new Date(at ?? NaN);
  if (Number.isNaN(time.getTime())) return '';
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Parses the value of that input into an API timestamp. */
export function fromLocalInput(text: string): string | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Formats a rate per second, with one decimal below ten. */
export function formatRate(rate: number): string {
  return rate.toLocaleString('en-US', { maximumFractionDigits: rate < 10 ? 1 : 0 });
}
