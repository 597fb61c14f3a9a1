import { hedgedShare, hourSeries, rateOf, slowestOf, sumOf, tellHedging } from './recent';

describe('rateOf', () => {
  it.each([
    [0, 60, '0 /s'],
    [620, 62, '10 /s'],
    [5, 60, '5 /min'],
    [1, 0, '0 /s'],
  ])('writes %d requests in %d s', (requests, seconds, text) => {
    expect(rateOf({ requests, seconds })).toBe(text);
  });
});

describe('hedging', () => {
  it.each([
    [
      { requests: 1812, hedged: 40, won: 31 },
      '2.21 %',
      '40 of the latest 1,812 that may have one; it answered 31 of them',
    ],
    [
      { requests: 3, hedged: 0, won: 0 },
      '0 %',
      '0 of the latest 3 that may have one; it answered 0 of them',
    ],
    [{ requests: 0, hedged: 0, won: 0 }, '–', 'none of late that may have one'],
    [null, '–', '–'],
  ])('of %j is told as %s', (hedging, share, told) => {
    expect(hedgedShare(hedging)).toBe(share);
    expect(tellHedging(hedging)).toBe(told);
  });
});

describe('sumOf', () => {
  it('adds up what is known, over the longest of the times', () => {
    const known = { recent: { seconds: 60, requests: 10, errors: 1 }, requests_in_flight: 2 };
    expect(
      sumOf([
        { ...known, pending_settlements: 3 },
        { recent: null, requests_in_flight: null, pending_settlements: null },
        { ...known, pending_settlements: null },
      ]),
    ).toEqual({ seconds: 60, requests: 20, errors: 2, inFlight: 4, pending: 3 });
  });
});

describe('hourSeries', () => {
  it('has every hour, those without requests too', () => {
    const start = Date.parse('2026-11-23T10:00:00Z');
    const group = { groups: { hour: '2026-11-23T11:00:00Z' }, requests: 3 };
    const { times, rows } = hourSeries(start, [group], Date.parse('2026-11-23T12:30:00Z'));
    expect(times.map((time) => time.slice(11, 13))).toEqual(['10', '11', '12']);
    expect(rows.map((row) => row?.requests)).toEqual([undefined, 3, undefined]);
  });
});

describe('slowestOf', () => {
  it('is the instance with the highest p95, of those that have answered', () => {
    const fast = { recent: { latency_p50: 90, latency_p95: 100 } };
    const slow = { recent: { latency_p50: 50, latency_p95: 700 } };
    const idle = { recent: { latency_p50: null, latency_p95: null } };
    expect(slowestOf([fast, slow, idle, { recent: null }])).toEqual({ p50: 50, p95: 700 });
    expect(slowestOf([idle])).toBeNull();
  });
});
