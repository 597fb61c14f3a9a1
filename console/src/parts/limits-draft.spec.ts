import { describe, expect, it } from '@jest/globals';
import { fromDraft, tightest, toDraft, type LimitsState } from './limits-draft';

const STATE: LimitsState = {
  budgets: [
    { period: 'day', credits: 500, spent: 1, held: 0, remaining: 499, renews_at: null },
    { period: 'month', credits: 0, spent: 0, held: 0, remaining: 0, renews_at: null },
  ],
  requests_per_minute: 60,
  tokens_per_minute: null,
  max_in_flight: null,
  models: { allow: ['a/*', 'b'], deny: null },
  providers: null,
};

describe('limits form', () => {
  it('round-trips limits', () => {
    expect(fromDraft(toDraft(STATE))).toEqual({
      budgets: [
        { period: 'day', credits: 500 },
        { period: 'month', credits: 0 },
      ],
      requests_per_minute: 60,
      tokens_per_minute: null,
      max_in_flight: null,
      models: { allow: ['a/*', 'b'] },
    });
  });

  it('accepts thousands separators and sends invalid numbers for the API to reject', () => {
    const draft = toDraft(undefined);
    draft.budgets.push({ period: 'week', credits: '1,000_000' }, { period: 'day', credits: '' });
    draft.rates.max_in_flight = 'many';
    draft.lists.models.deny = ' x , y\n\nz';
    expect(fromDraft(draft)).toEqual({
      budgets: [
        { period: 'week', credits: 1_000_000 },
        { period: 'day', credits: -1 },
      ],
      requests_per_minute: null,
      tokens_per_minute: null,
      max_in_flight: 0,
      models: { deny: ['x', 'y', 'z'] },
    });
  });

  it('returns the budget with the smallest remaining share', () => {
    expect(tightest(STATE.budgets)?.period).toBe('month');
    expect(tightest(STATE.budgets.slice(0, 1))?.period).toBe('day');
    expect(tightest([])).toBeUndefined();
  });
});
