/** How many whole days, before today, tell the pace. */
const DAYS = 7;
const DAY_MS = 86_400_000;

export interface Pace {
  /** Credits. */
  perDay: number;
  lastsMs: number;
  /** Null when nothing is spent, or when it would last for over ten years. */
  endsAt: Date | null;
}

/**
 * How long the balance lasts when each day costs what the last seven whole days (UTC) cost on average.
 *
 * @param days sums by day; today's is left out, since it is not over
 */
export function paceOf(
  balance: number,
  days: readonly { groups: Record<string, string | null>; cost: number }[],
  now: Date,
): Pace | undefined {
  const today = now.toISOString().slice(0, 10);
  const whole = days.filter(({ groups }) => !groups['day']?.startsWith(today));
  if (whole.length === 0) return undefined;
  const perDay = Math.round(whole.reduce((sum, { cost }) => sum + cost, 0) / DAYS);
  const lastsMs = perDay > 0 ? (Math.max(0, balance) / perDay) * DAY_MS : Infinity;
  const isFar = lastsMs > 3_650 * DAY_MS;
  return { perDay, lastsMs, endsAt: isFar ? null : new Date(now.getTime() + lastsMs) };
}
