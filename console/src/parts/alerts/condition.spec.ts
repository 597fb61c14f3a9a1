import { describe, expect, it } from '@jest/globals';
import { describeCondition, fromTexts, kindsOf, toTexts } from './condition';

describe('alert condition form', () => {
  it('round-trips a condition without empty fields', () => {
    const condition = { thresholds: [50, 100], scope: 'api_key', scope_id: null };
    const texts = toTexts('budget', condition);
    expect(texts).toEqual({ thresholds: '50, 100', scope: 'api_key', scope_id: '', tenant_id: '' });
    expect(fromTexts('budget', texts)).toEqual({ thresholds: [50, 100], scope: 'api_key' });
  });

  it('starts with defaults', () => {
    expect(fromTexts('error_rate', toTexts('error_rate', undefined))).toEqual({
      percent: 10,
      window_minutes: 10,
      min_requests: 20,
    });
  });

  it('describes a condition in one line', () => {
    expect(describeCondition({ credits: 5_000_000, provider: null })).toBe('credits 5,000,000');
  });
});

describe('kindsOf', () => {
  it('returns all kinds for operators, and hides operator-only kinds from tenants', () => {
    expect(kindsOf('operator')).toContain('route_paused');
    expect(kindsOf('tenant')).toEqual(
      kindsOf('operator').filter(
        (kind) => !['route_paused', 'prices_stale', 'prices_differ'].includes(kind),
      ),
    );
  });
});
