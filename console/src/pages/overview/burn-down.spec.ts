import { burnDown } from './burn-down';

const DAYS = [
  { day: '2026-11-22', balance: 500 },
  { day: '2026-11-23', balance: 250 },
];

describe('burnDown', () => {
  it('extrapolates the daily spend from today until the balance is zero', () => {
    expect(burnDown(DAYS, 200)).toEqual({
      times: [22, 23, 24, 25].map((day) => `2026-11-${day}T00:00:00Z`),
      balance: [500, 250, null, null],
      expected: [null, 250, 50, 0],
    });
  });

  it('forecasts at most as many days as the history has', () => {
    expect(burnDown(DAYS, 1).expected).toEqual([null, 250, 249, 248]);
  });

  it('forecasts nothing without spend or balance', () => {
    expect(burnDown(DAYS, 0).expected).toEqual([null, null]);
    expect(burnDown([{ day: '2026-11-23', balance: 0 }], 5).times).toHaveLength(1);
    expect(burnDown([], 5)).toEqual({ times: [], balance: [], expected: [] });
  });
});
