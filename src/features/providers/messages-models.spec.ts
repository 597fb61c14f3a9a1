import { describe, expect, it } from '@jest/globals';
import { listMessagesModels } from './messages-models.js';
import type { ModelDto } from './providers.dto.js';

const modelOf = (id: string, created: number): ModelDto => ({
  id,
  object: 'model',
  created,
  owned_by: 'lab',
  name: `The ${id}`,
  description: '',
  context_length: 1_000,
  pricing: { prompt: '0', completion: '0', request: '0', image: '0' },
  architecture: null,
  top_provider: { context_length: 1_000, max_completion_tokens: 100, is_moderated: false },
  supported_parameters: [],
  per_request_limits: null,
});
const MODELS = [modelOf('a', 1), modelOf('b', 3), modelOf('c', 2), modelOf('d', 0)];

describe(listMessagesModels.name, () => {
  const page = (query: Record<string, unknown>): [string, boolean] => {
    const { data, has_more: hasMore } = listMessagesModels(MODELS, query);
    return [data.map(({ id }) => id).join(''), hasMore];
  };

  it('lists the newest first and pages in both directions', () => {
    expect(page({})).toEqual(['bcad', false]);
    expect(page({ limit: '3' })).toEqual(['bca', true]);
    expect(page({ limit: '4' })).toEqual(['bcad', false]);
    expect(page({ after_id: 'c', limit: '1' })).toEqual(['a', true]);
    expect(page({ after_id: 'd' })).toEqual(['', false]);
    expect(page({ before_id: 'd', limit: '2' })).toEqual(['ca', true]);
    expect(page({ before_id: 'c', limit: '2' })).toEqual(['b', false]);
  });

  it("shows a model in the dialect's format", () => {
    const { data, first_id: first, last_id: last } = listMessagesModels(MODELS, { limit: '2' });
    expect([first, last]).toEqual(['b', 'c']);
    expect(data[0]).toMatchObject({
      type: 'model',
      id: 'b',
      display_name: 'The b',
      created_at: '1970-01-01T00:00:03Z',
      max_input_tokens: 1_000,
      max_tokens: 100,
    });
    expect(listMessagesModels([], {})).toMatchObject({ data: [], first_id: null, last_id: null });
  });

  it.each([
    ['limit', { limit: '0' }],
    ['limit', { limit: '1001' }],
    ['limit', { limit: ['1', '2'] }],
    ['after_id', { after_id: 'none' }],
    ['before_id', { before_id: ['a'] }],
    ['before_id', { before_id: 'a', after_id: 'b' }],
  ])('rejects an invalid %s', (param, query) => {
    expect(() => page(query)).toThrow(expect.objectContaining({ param }));
  });
});
