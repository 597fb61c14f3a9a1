import { describe, expect, it } from '@jest/globals';
import { markPlaces } from './marks';
import { describeRule, fromRule, NEW_RULE, toRule, type Rule } from './rule-draft';
import { SPANS, startOf, triggerLines } from './trigger-series';

const RULES: Rule[] = [
  { type: 'regex', pattern: 'a|b', flags: 'is' },
  { type: 'regex', pattern: 'a' },
  { type: 'keyword', words: ['project falcon', 'x'] },
  { type: 'pii', entities: ['email', 'iban'] },
  { type: 'secret' },
  { type: 'max_length', max: 12_000 },
];

describe('rule form', () => {
  it.each(RULES)('round-trips %j', (rule) => {
    expect(toRule(fromRule(rule))).toEqual(rule);
  });

  it('splits words by line', () => {
    const draft = { ...NEW_RULE, words: ' project falcon \n\n x\n' };
    expect(toRule(draft)).toEqual({ type: 'keyword', words: ['project falcon', 'x'] });
  });

  it('sends invalid values for the API to reject', () => {
    expect(toRule({ ...NEW_RULE, type: 'max_length', max: '' })).toEqual({
      type: 'max_length',
      max: 0,
    });
    expect(toRule({ ...NEW_RULE, words: '' })).toEqual({ type: 'keyword', words: [] });
  });

  it('describes rules in a few words', () => {
    expect(RULES.map(describeRule)).toEqual([
      'Pattern /a|b/is',
      'Pattern /a/',
      'Words: project falcon, x',
      'Email addresses, Account numbers (IBAN)',
      'Keys, tokens and passwords',
      'More than 12,000 characters',
    ]);
    const many: Rule = { type: 'keyword', words: ['a', 'b', 'c', 'd', 'e'] };
    expect(describeRule(many)).toBe('Words: a, b, c and 2 more');
  });
});

describe('markPlaces', () => {
  const marked = (text: string, ...groups: [number, number][][]) =>
    markPlaces(
      text,
      groups.map((places) => places.map(([start, end]) => ({ start, end }))),
    ).map((part) => [part.text, ...part.found]);

  it('splits the text at each place and keeps it whole without any', () => {
    expect(marked('abc')).toEqual([['abc']]);
    expect(marked('abcdef', [[1, 3]])).toEqual([['a'], ['bc', 0], ['def']]);
  });

  it('returns all groups of overlapping places', () => {
    expect(marked('abcdef', [[0, 4]], [[2, 6]])).toEqual([
      ['ab', 0],
      ['cd', 0, 1],
      ['ef', 1],
    ]);
  });

  it('ignores places outside the text', () => {
    const parts = markPlaces('abc', [
      [
        { start: 2, end: 9 },
        { start: -1, end: 1 },
        { start: 7, end: 8 },
      ],
    ]);
    expect(parts.map(({ text }) => text).join('')).toBe('abc');
  });
});

describe('trigger series', () => {
  const now = new Date('2026-11-23T12:30:00Z');
  const [day, week] = SPANS;

  it('starts at a whole hour or day', () => {
    expect(startOf(day, now).toISOString()).toBe('2026-11-22T12:00:00.000Z');
    expect(startOf(week, now).toISOString()).toBe('2026-11-16T00:00:00.000Z');
  });

  it('returns a line per guardrail with zeros for gaps', () => {
    const counts = [
      { time: '2026-11-17T00:00:00.000Z', guardrail_id: 'a', count: 1 },
      { time: '2026-11-23T00:00:00.000Z', guardrail_id: 'b', count: 5 },
      { time: '2026-11-23T00:00:00.000Z', guardrail_id: 'b', count: 2 },
      { time: '2020-01-01T00:00:00.000Z', guardrail_id: 'a', count: 9 },
    ];
    const { times, series } = triggerLines(counts, week, now, (id) => id.toUpperCase());
    expect([times[0], times.at(-1), times.length]).toEqual([
      '2026-11-16T00:00:00.000Z',
      '2026-11-23T00:00:00.000Z',
      8,
    ]);
    expect(series).toEqual([
      { label: 'A', values: [0, 1, 0, 0, 0, 0, 0, 0] },
      { label: 'B', values: [0, 0, 0, 0, 0, 0, 0, 7] },
    ]);
  });

  it('combines the smallest lines', () => {
    const counts = Array.from({ length: 8 }, (_, index) => ({
      time: '2026-11-23T00:00:00.000Z',
      guardrail_id: String(index),
      count: index + 1,
    }));
    const { series } = triggerLines(counts, week, now, (id) => id);
    expect(series.map(({ label, values }) => [label, values.at(-1)])).toEqual([
      ['7', 8],
      ['6', 7],
      ['5', 6],
      ['4', 5],
      ['3', 4],
      ['3 others', 6],
    ]);
  });
});
