import { describe, expect, it } from '@jest/globals';
import {
  denierOf,
  heldSubjects,
  limitedSubject,
  matches,
  renewalOf,
  type Limits,
} from './limits.js';

describe(renewalOf.name, () => {
  it.each([
    ['hour', '2026-11-23T07:59:59.999Z', '2026-11-23T08:00:00.000Z'],
    ['hour', '2026-11-23T08:00:00.000Z', '2026-11-23T09:00:00.000Z'],
    ['day', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z'],
    // A Sunday, and the Monday after it.
    ['week', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00.000Z'],
    ['week', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
    ['month', '2026-12-31T12:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ] as const)('renews a budget per %s at %s on %s', (period, now, renewal) => {
    expect(renewalOf(period, new Date(now))?.toISOString()).toBe(renewal);
  });

  it('never renews a total budget', () => {
    expect(renewalOf('total', new Date())).toBeNull();
  });
});

describe(matches.name, () => {
  it.each([
    ['openai/gpt-4o', 'openai/gpt-4o', true],
    ['openai/gpt-4o', 'openai/gpt-4o-mini', false],
    ['openai/*', 'openai/gpt-4o', true],
    ['*', '', true],
    ['*-mini', 'openai/gpt-4o-mini', true],
    ['*gpt*mini*', 'openai/gpt-4o-mini', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*b', 'ab', false],
    ['a.c', 'abc', false],
    ['', 'a', false],
  ])('%j against %j: %s', (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  it('matches a pathological pattern in linear time', () => {
    expect(matches(`${'*a'.repeat(500)}*b`, 'a'.repeat(100_000))).toBe(false);
  });
});

describe(limitedSubject.name, () => {
  const operator: Limits = {
    budgets: [
      { period: 'day', credits: 50 },
      { period: 'month', credits: 900 },
    ],
    requests_per_minute: 10,
    models: { deny: ['a/*'] },
  };
  const own: Limits = {
    budgets: [{ period: 'day', credits: 80 }],
    requests_per_minute: 5,
    max_in_flight: 2,
    models: { allow: ['*/x', 'b/y'] },
  };

  it('applies the strictest limit of each kind', () => {
    expect(limitedSubject('tenant', 't', [operator, null, own])).toEqual({
      scope: 'tenant',
      id: 't',
      budgets: [
        { period: 'day', credits: 50 },
        { period: 'month', credits: 900 },
      ],
      requests_per_minute: 5,
      max_in_flight: 2,
      models: [{ deny: ['a/*'] }, { allow: ['*/x', 'b/y'] }],
      providers: [],
    });
  });

  it('returns undefined when no limit is set', () => {
    expect(limitedSubject('tenant', 't', [null, {}, { budgets: [] }])).toBeUndefined();
  });

  it('denies a name that any list denies', () => {
    const subjects = [limitedSubject('tenant', 't', [operator, own])!];
    expect(denierOf(subjects, 'models', ['b/x'])).toBeUndefined();
    expect(denierOf(subjects, 'models', ['a/x'])).toBe(subjects[0]);
    expect(denierOf(subjects, 'models', ['a/X'])).toBe(subjects[0]);
    expect(denierOf(subjects, 'models', ['c/z'])).toBe(subjects[0]);
    expect(denierOf(subjects, 'models', ['c/z', 'b/y'])).toBeUndefined();
    expect(denierOf(subjects, 'models', ['b/x', 'a/alias'])).toBe(subjects[0]);
    expect(denierOf(subjects, 'providers', ['anyone'])).toBeUndefined();
  });

  it('concerns the ledger when money or concurrent requests are limited', () => {
    const rates = limitedSubject('tenant', 't', [{ tokens_per_minute: 5 }])!;
    const money = limitedSubject('api_key', 'k', [operator])!;
    expect(heldSubjects([rates])).toBeUndefined();
    expect(heldSubjects([rates, money])).toEqual([money]);
    expect(heldSubjects(undefined)).toBeUndefined();
  });
});
