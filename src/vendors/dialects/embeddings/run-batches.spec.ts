import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { Canceller, type CancelSignal } from '../../../canonical/cancel-signal.js';
import { runBatches, type BatchCall } from './run-batches.js';

const limits = { firstByteMs: 1_000, idleMs: 1_000, requestMs: 1_000 };
const callWith = (signal: CancelSignal = new Canceller()): BatchCall => ({
  limits,
  signal,
});
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Rejects when aborted. */
const hang = ({ signal }: BatchCall): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

describe(runBatches.name, () => {
  it('joins answers in batch order, whichever comes first', async () => {
    const answers = await runBatches(numbers(20), callWith(), async (batch) => {
      await wait((20 - batch) % 7);
      return `answer ${batch}`;
    });
    expect(answers).toEqual(numbers(20).map((batch) => `answer ${batch}`));
  });

  it('runs several batches at once, but not all', async () => {
    let running = 0;
    let most = 0;
    await runBatches(numbers(30), callWith(), async () => {
      most = Math.max(most, ++running);
      await wait(1);
      running--;
    });
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  it('cancels the others when one fails, and stops starting batches', async () => {
    const started: number[] = [];
    const running = runBatches(numbers(30), callWith(), async (batch, call) => {
      started.push(batch);
      if (batch !== 3) return hang(call);
      await wait(1);
      throw new Error('third');
    });
    await expect(running).rejects.toThrow('third');
    expect(started).toHaveLength(8);
  });

  it('ends when its caller disconnects', async () => {
    const caller = new AbortController();
    const running = runBatches(numbers(3), callWith(caller.signal), (_batch, call) => hang(call));
    caller.abort();
    await expect(running).rejects.toThrow('aborted');
  });

  it('stops starting batches when the caller disconnects, and reports the batches sent', async () => {
    const caller = Object.assign(new Canceller(), { noteSent: jest.fn() });
    const ending: (boolean | undefined)[] = [];
    await runBatches(numbers(10), callWith(caller), async (_, { signal }) => {
      ending.push(signal.isEnding);
      signal.noteSent?.();
      caller.isEnding = true;
      await wait(1);
    });
    expect(ending).toEqual([false, ...numbers(9).map(() => true)]);
    expect(caller.noteSent).toHaveBeenCalledTimes(10);
  });

  it('applies the time limit of one call to all together', async () => {
    const given: number[] = [];
    const one: BatchCall = { ...callWith(), limits: { ...limits, requestMs: 60_000 } };
    await runBatches(numbers(16), one, async (_batch, call) => {
      given.push(call.limits.requestMs);
      await wait(20);
    });
    expect(Math.max(...given)).toBeLessThanOrEqual(60_000);
    expect(given.at(-1)).toBeLessThan(59_990);
  });
});
