import { describe, expect, it } from '@jest/globals';
import { readModelChain, readRoutingPreferences } from './routing-fields.js';

describe(readModelChain.name, () => {
  it.each<[Record<string, unknown>, string[]]>([
    [{ model: 'a/b' }, ['a/b']],
    [{ models: ['a/b', 'c/d'] }, ['a/b', 'c/d']],
    [{ model: 'a/b', models: ['c/d', 'a/b', 'c/d'] }, ['a/b', 'c/d']],
    [{ model: null, models: ['a/b/c'] }, ['a/b/c']],
  ])('reads %j', (value, models) => {
    expect(readModelChain(value)).toEqual(models);
  });

  it.each<[Record<string, unknown>, string]>([
    [{}, 'model'],
    [{ model: null, models: [] }, 'model'],
    [{ model: 'b' }, 'model'],
    [{ model: '/b' }, 'model'],
    [{ model: 'a/' }, 'model'],
    [{ model: 'a/b', models: ['c/d', 'd'] }, 'models.1'],
  ])('rejects %j', (value, param) => {
    expect(() => readModelChain(value)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('truncates an overlong alias in the error', () => {
    expect.assertions(1);
    try {
      readModelChain({ model: 'x'.repeat(100_000) });
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(400);
    }
  });
});

describe(readRoutingPreferences.name, () => {
  it.each<[unknown, unknown]>([
    [undefined, undefined],
    [null, undefined],
    ['latency', { by: 'latency', partition: 'model' }],
    [{ by: 'price' }, { by: 'price', partition: 'model' }],
    [
      { by: 'throughput', partition: 'none' },
      { by: 'throughput', partition: 'none' },
    ],
    [{ partition: 'none' }, undefined],
  ])('reads sort %j', (sort, expected) => {
    expect(readRoutingPreferences({ provider: { sort } }).sort).toEqual(expected);
  });

  it('ranks all routes by `provider.sort` when `route` is `sort`', () => {
    const value = { route: 'sort', provider: { sort: 'latency' } };
    expect(readRoutingPreferences(value).sort).toEqual({ by: 'latency', partition: 'none' });
  });

  it.each<[unknown, bigint | undefined]>([
    [0, 0n],
    [0.1, 10n ** 17n],
    [15, 15n * 10n ** 18n],
    ['0.1', 10n ** 17n],
    ['0.000000000000000001', 1n],
    [1e-7, 10n ** 11n],
    [null, undefined],
    [undefined, undefined],
  ])('parses a maximum price of %j exactly', (prompt, expected) => {
    const { maxPrice } = readRoutingPreferences({ provider: { max_price: { prompt } } });
    expect(maxPrice).toEqual({ prompt: expected });
  });
});
