import { describe, expect, it } from '@jest/globals';
import { OriginTurns } from './origin-turns.js';

describe(OriginTurns.name, () => {
  it('lets so many of an origin run at once, and holds nobody up who comes later', async () => {
    const turns = new OriginTurns(2);
    const done: string[] = [];
    const ends = new Map<string, () => void>();
    const work = (key: string): Promise<void> =>
      new Promise((resolve) => {
        ends.set(key, () => {
          ends.delete(key);
          done.push(key);
          resolve();
        });
      });
    const runs = ['a', 'b', 'c', 'd', 'c'].map((key) => turns.run('x', key, work));
    const other = turns.run('y', 'e', work);
    expect([...ends.keys()]).toEqual(['a', 'b', 'e']);
    await Promise.all(runs.slice(2));
    while (ends.size > 0) {
      expect(ends.size).toBeLessThanOrEqual(3);
      [...ends.values()][0]!();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all([...runs, other]);
    expect(done.sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('is free again after a failure', async () => {
    const turns = new OriginTurns(1);
    const fail = (): Promise<void> => Promise.reject(new Error('broken'));
    await expect(turns.run('x', 'a', fail)).rejects.toThrow('broken');
    await expect(turns.run('x', 'b', () => Promise.resolve())).resolves.toBeUndefined();
  });
});
