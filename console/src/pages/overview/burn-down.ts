const DAY_MS = 86_400_000;

export interface BalanceDay {
  day: string;
  balance: number;
}

export interface BurnDown {
  /** Midnights in UTC. */
  times: string[];
  /** Credits at the end of each past day. */
  balance: (number | null)[];
  /** Forecast from today until the balance is zero, at most as many days as the history has. */
  expected: (number | null)[];
}

/**
 * Builds the balance history and its forecast at a constant daily spend.
 *
 * @param days consecutive days up to today, ascending
 * @param perDay credits; 0 yields no forecast
 */
export function burnDown(days: readonly BalanceDay[], perDay: number): BurnDown {
  const last = days.at(-1);
  const times = days.map(({ day }) => `${day}T00:00:00Z`);
  const balance: (number | null)[] = days.map((day) => day.balance);
  const expected: (number | null)[] = days.map(() => null);
  if (!last || perDay <= 0) return { times, balance, expected };
  expected[days.length - 1] = last.balance;
  let left = last.balance;
  for (let ahead = 1; ahead <= days.length && left > 0; ahead++) {
    left = Math.max(0, left - perDay);
    times.push(
      `${new Date(Date.parse(last.day) + ahead * DAY_MS).toISOString().slice(0, 10)}T00:00:00Z`,
    );
    balance.push(null);
    expected.push(left);
  }
  return { times, balance, expected };
}
