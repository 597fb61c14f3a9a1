const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const LOCAL_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** An instant in the viewer's zone. */
export function formatTime(at: string | Date): string {
  return LOCAL.format(new Date(at));
}

/** The day of an instant in the viewer's zone. */
export function formatDay(at: string | Date): string {
  return LOCAL_DAY.format(new Date(at));
}

/** An instant in UTC, to the second: `2026-11-23 11:59:50 UTC`. */
export function formatUtc(at: string | Date): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const UTC_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const SHORT_DAY: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' };
const AXIS_UTC_DAY = new Intl.DateTimeFormat(undefined, { ...SHORT_DAY, timeZone: 'UTC' });
const AXIS_DAY = new Intl.DateTimeFormat(undefined, SHORT_DAY);
const AXIS_TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** Whether all of the times are midnights (UTC), as the API's days are. */
export function isDays(times: readonly string[]): boolean {
  return times.length > 0 && times.every((time) => Date.parse(time) % 86_400_000 === 0);
}

/** How to write one of the times: days by their name in UTC, others as instants in the viewer's zone. */
export function timeFormatOf(times: readonly string[]): (at: string) => string {
  return isDays(times) ? (at) => UTC_DAY.format(new Date(at)) : formatTime;
}

/** The same, as short as an axis needs it, of seconds since 1970. */
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

/** Milliseconds in the two units that fit: `840 ms`, `2.4 s`, `3 min 5 s`, `2 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const at = MS_PER.findIndex(([, size]) => ms >= size);
  const parts = MS_PER.slice(at, at + 2).map(([unit, size], index, [first]) => {
    const rest = index === 0 || !first ? ms : ms % first[1];
    return [Math.floor(rest / size), unit] as const;
  });
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** The day (UTC) that lies so many days before `now`, as the API takes it. */
export function daysAgo(days: number, now = new Date()): string {
  return new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}

/** An instant or a day of the API as `<input type="datetime-local">` has it, to the minute, in the viewer's zone. */
export function toLocalInput(at: string | null | undefined): string {
  const time = new Date(at ?? NaN);
  if (Number.isNaN(time.getTime())) return '';
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** What was chosen in that control, as an instant of the API. */
export function fromLocalInput(text: string): string | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** How many a second, with one digit behind the point where they are few. */
export function formatRate(rate: number): string {
  return rate.toLocaleString('en-US', { maximumFractionDigits: rate < 10 ? 1 : 0 });
}
