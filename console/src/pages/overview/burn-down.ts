const DAY_MS = 86_400_000;

export interface BalanceDay {
  day: string;
  balance: number;
}

export interface BurnDown {
  /** Midnights (UTC) of the days. */
  times: string[];
  /** Credits at the end of each day that was. */
  balance: (number | null)[];
  /** What is left at the same pace, from today on, until nothing is or so many days as were shown have passed. */
  expected: (number | null)[];
}

/**
 * How the balance went, and how it goes on when each day costs the same.
 *
 * @param days each day up to today, the latest last
 * @param perDay credits; 0: nothing is spent, so nothing is expected
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
