import { describe, expect, it } from '@jest/globals';
import { parseSearch } from './search-terms';

describe('parseSearch', () => {
  it('parses filters by name', () => {
    expect(parseSearch(' model:openai/gpt-4o  Status:error tag:team=x user:"Ada L." ')).toEqual({
      filters: { model: 'openai/gpt-4o', status: 'error', tag: 'team=x', end_user: 'Ada L.' },
      requestId: undefined,
      unknown: [],
    });
  });

  it.each([
    ['cost:>100', { min_cost: '100', max_cost: '' }],
    ['cost:<100', { min_cost: '', max_cost: '100' }],
    ['cost:100..500', { min_cost: '100', max_cost: '500' }],
    ['cost:7', { min_cost: '7', max_cost: '7' }],
    ['last:24h', { range: '24h', start_date: '', end_date: '' }],
  ])('parses %s', (text, filters) => {
    expect(parseSearch(text)).toEqual({ filters, requestId: undefined, unknown: [] });
  });

  it('recognizes a request id', () => {
    const id = '6D6F6E74-0000-4000-8000-0123456789ab';
    expect(parseSearch(`${id} `)).toEqual({
      filters: {},
      requestId: id.toLowerCase(),
      unknown: [],
    });
  });

  it.each(['hello', 'modell:x', 'model:', 'status:odd', 'cost:cheap', 'cost:>1..2', 'last:ever'])(
    'returns %s as unknown',
    (text) => {
      expect(parseSearch(`${text} provider:a`)).toEqual({
        filters: { provider: 'a' },
        requestId: undefined,
        unknown: [text],
      });
    },
  );
});
