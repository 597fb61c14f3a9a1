const ISO_DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d):?(\d\d))?)?$/;

/** Milliseconds. */
export const HOUR_MS = 3_600_000;

export const DAY_MS = 24 * HOUR_MS;

/** Returns midnight (UTC) of the instant's day. */
export function startOfUtcDay(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / DAY_MS) * DAY_MS);
}

/** A calendar month in UTC. */
export interface UtcMonth {
  /** Its first instant. */
  readonly start: Date;
  /** The first instant of the next month. */
  readonly end: Date;
}

export function utcMonthOf(instant: Date): UtcMonth {
  const year = instant.getUTCFullYear();
  const month = instant.getUTCMonth();
  return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) };
}

/**
 * Parses an ISO 8601 date or date-time; UTC without an offset, midnight without a time.
 *
 * @returns undefined when it is malformed, no real date or time, or outside the years 0–9999
 */
export function parseIsoDateTime(text: string): Date | undefined {
  const match = ISO_DATE_TIME.exec(text);
  if (!match) return undefined;
  const number = (group: number) => Number(match[group] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  if (hour > 23 || minute > 59 || second > 59 || number(9) > 23 || number(10) > 59) {
    return undefined;
  }
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  // A day that the month lacks rolls over into the next month.
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined;
  local.setUTCHours(hour, minute, second, milliseconds);
  const offsetMinutes = (number(9) * 60 + number(10)) * (match[8] === '-' ? -1 : 1);
  const instant = new Date(local.getTime() - offsetMinutes * 60_000);
  return instant.getUTCFullYear() >= 0 && instant.getUTCFullYear() <= 9999 ? instant : undefined;
}
