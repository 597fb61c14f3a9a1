import { rateOf, sumOf } from './recent';

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
