import { hedgedShare, hourSeries, rateOf, slowestOf, sumOf, describeHedging } from './recent';

describe('rateOf', () => {
  it.each([
    [0, 60, '0 /s'],
    [620, 62, '10 /s'],
    [5, 60, '5 /min'],
    [1, 0, '0 /s'],
  ])('formats %d requests in %d s', (requests, seconds, text) => {
    expect(rateOf({ requests, seconds })).toBe(text);
  });
});

describe('hedging', () => {
  it.each([
    [
      { requests: 1812, hedged: 40, won: 31 },
      '2.21 %',
      '40 of the last 1,812 eligible requests; the hedge won 31',
    ],
    [
      { requests: 3, hedged: 0, won: 0 },
      '0 %',
      '0 of the last 3 eligible requests; the hedge won 0',
    ],
    [{ requests: 0, hedged: 0, won: 0 }, '–', 'no eligible requests'],
    [null, '–', '–'],
  ])('of %j is %s', (hedging, share, description) => {
    expect(hedgedShare(hedging)).toBe(share);
    expect(describeHedging(hedging)).toBe(description);
  });
});

describe('sumOf', () => {
  it('sums known values over the longest interval', () => {
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
  it('includes hours without requests', () => {
    const start = Date.parse('2026-11-23T10:00:00Z');
    const group = { groups: { hour: '2026-11-23T11:00:00Z' }, requests: 3 };
    const { times, rows } = hourSeries(start, [group], Date.parse('2026-11-23T12:30:00Z'));
    expect(times.map((time) => time.slice(11, 13))).toEqual(['10', '11', '12']);
    expect(rows.map((row) => row?.requests)).toEqual([undefined, 3, undefined]);
  });
});

describe('slowestOf', () => {
  it('returns the percentiles of the instance with the highest p95', () => {
    const fast = { recent: { latency_p50: 90, latency_p95: 100 } };
    const slow = { recent: { latency_p50: 50, latency_p95: 700 } };
    const idle = { recent: { latency_p50: null, latency_p95: null } };
    expect(slowestOf([fast, slow, idle, { recent: null }])).toEqual({ p50: 50, p95: 700 });
    expect(slowestOf([idle])).toBeNull();
  });
});
