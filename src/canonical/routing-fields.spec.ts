import { describe, expect, it } from '@jest/globals';
import { readModelChain } from './routing-fields.js';

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
  ])('finds fault with %j', (value, param) => {
    expect(() => readModelChain(value)).toThrow(expect.objectContaining({ status: 400, param }));
  });
});
