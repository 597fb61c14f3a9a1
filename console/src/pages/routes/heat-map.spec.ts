import { heatOf, stepsOf } from './heat-map';

const step = (answered: number, failed: number) => ({
  at: '2026-11-23T12:00:00.000Z',
  answered,
  failed,
  latency_ms: null,
});

describe('heatOf', () => {
  it.each([
    [undefined, 'none'],
    [step(0, 0), 'none'],
    [step(9, 0), 'good'],
    [step(999, 1), 'fair'],
    [step(90, 10), 'poor'],
    [step(0, 1), 'bad'],
  ])('rates %j as %s', (one, heat) => {
    expect(heatOf(one)).toBe(heat);
  });
});

describe('stepsOf', () => {
  it('ends with the current step', () => {
    const start = '2026-11-23T10:00:00.000Z';
    const steps = stepsOf(start, 1_800, Date.parse('2026-11-23T11:10:00Z'));
    expect(steps.map((at) => new Date(at).toISOString().slice(11, 16))).toEqual([
      '10:00',
      '10:30',
      '11:00',
    ]);
  });
});
