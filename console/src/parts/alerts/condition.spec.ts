import { describe, expect, it } from '@jest/globals';
import { describeCondition, fromTexts, kindsOf, toTexts } from './condition';

describe('the condition of an alert in a form', () => {
  it('comes back as it was, without what is not said', () => {
    const condition = { thresholds: [50, 100], scope: 'api_key', scope_id: null };
    const texts = toTexts('budget', condition);
    expect(texts).toEqual({ thresholds: '50, 100', scope: 'api_key', scope_id: '', tenant_id: '' });
    expect(fromTexts('budget', texts)).toEqual({ thresholds: [50, 100], scope: 'api_key' });
  });

  it('begins with what most want', () => {
    expect(fromTexts('error_rate', toTexts('error_rate', undefined))).toEqual({
      percent: 10,
      window_minutes: 10,
      min_requests: 20,
    });
  });

  it('is told in a line', () => {
    expect(describeCondition({ credits: 5_000_000, provider: null })).toBe('credits 5,000,000');
  });
});

describe('the kinds of alerts', () => {
  it('are all of them for operators, and all but what is their business alone for tenants', () => {
    expect(kindsOf('operator')).toContain('route_paused');
    expect(kindsOf('tenant')).toEqual(
      kindsOf('operator').filter(
        (kind) => !['route_paused', 'prices_stale', 'prices_differ'].includes(kind),
      ),
    );
  });
});
