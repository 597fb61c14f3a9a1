import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { Turnstile } from './turnstile.js';

describe(Turnstile.name, () => {
  it('runs as many as its limit at once, and the others in the order in which they came', async () => {
    const turnstile = new Turnstile(2);
    const started: number[] = [];
    const finish: (() => void)[] = [];
    const works = [0, 1, 2, 3].map((number) =>
      turnstile.run(() => {
        started.push(number);
        return new Promise<number>((resolve) => (finish[number] = () => resolve(number)));
      }),
    );
    await turn();
    expect(started).toEqual([0, 1]);
    finish[1]?.();
    await turn();
    expect(started).toEqual([0, 1, 2]);
    finish[0]?.();
    await turn();
    finish[2]?.();
    finish[3]?.();
    expect(await Promise.all(works)).toEqual([0, 1, 2, 3]);
  });

  it('gives the place of a failed one to the next', async () => {
    const turnstile = new Turnstile(1);
    const failed = turnstile.run(() => Promise.reject(new Error('no')));
    const next = turnstile.run(() => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
    expect(await turnstile.run(() => Promise.resolve('again'))).toBe('again');
  });

  it('never lets a newcomer take the place of one who waits', async () => {
    const turnstile = new Turnstile(1);
    let running = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++running);
      await turn();
      running--;
    };
    const first = turnstile.run(work).then(() => turnstile.run(work));
    await Promise.all([first, turnstile.run(work), turnstile.run(work)]);
    expect(most).toBe(1);
  });
});
