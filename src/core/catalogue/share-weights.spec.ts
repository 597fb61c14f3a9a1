import { describe, expect, it } from '@jest/globals';
import { shareWeights } from './share-weights.js';

const row = (id: string, context_length: number, completion: string, rest: object = {}) => ({
  id,
  context_length,
  pricing: { prompt: '0.1', completion },
  weights: 'same',
  ...rest,
});

describe(shareWeights.name, () => {
  it('adds other vendors after a row’s own, cheapest first', () => {
    const routes = [{ provider: 'c', model: 'their/name', priority: 0 }];
    const [first, , , alone] = shareWeights([
      row('a/one', 100, '0.2'),
      row('b/x/two', 100, '0.4', { pricing: { prompt: '0.1', completion: '0.4', request: '1' } }),
      row('c/three', 200, '0.3', { routes }),
      { id: 'd/four', context_length: 100, pricing: {} },
    ]);
    const whole = { input_cache_read: '0.1', input_cache_write: '0.1', prompt: '0.1' };
    expect(first).toEqual({
      id: 'a/one',
      context_length: 100,
      pricing: { prompt: '0.1', completion: '0.2' },
      routes: [
        { provider: 'a', model: 'one', priority: 0 },
        {
          provider: 'c',
          model: 'their/name',
          priority: 1,
          pricing: { ...whole, completion: '0.3', request: '0' },
        },
        {
          provider: 'b',
          model: 'x/two',
          priority: 2,
          pricing: { ...whole, completion: '0.4', request: '1' },
        },
      ],
    });
    expect(alone).toEqual({ id: 'd/four', context_length: 100, pricing: {} });
  });

  it('copies the other vendors’ price tiers', () => {
    const tiers = { service_tiers: { flex: { pricing: { prompt: '0.05' } } } };
    const [first, second] = shareWeights([row('a/one', 9, '1'), row('b/two', 9, '1', tiers)]);
    expect(first).toHaveProperty('routes.1.service_tiers', tiers.service_tiers);
    expect(second).not.toHaveProperty('routes.1.service_tiers');
  });

  it('adds no vendor with a shorter context', () => {
    const [long, short] = shareWeights([row('a/one', 200, '1'), row('b/two', 100, '1')]);
    expect(long).not.toHaveProperty('routes');
    expect(short).toHaveProperty('routes.1.provider', 'a');
  });
});
