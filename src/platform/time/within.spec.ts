import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { endsWithin, within } from './within.js';

const NEVER = new Promise<never>(() => undefined);
const soon = <Result>(give: () => Result): Promise<Result> =>
  new Promise<void>((resolve) => setTimeout(resolve, 50)).then(give);
const fail = (): never => {
  throw new Error('no');
};

describe('waiting with a limit', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const after = async <Result>(ms: number, waiting: Promise<Result>): Promise<Result> => {
    waiting.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(ms);
    return waiting;
  };

  it('returns the result, be it undefined or an error, in time', async () => {
    expect(
      await after(
        50,
        within(
          100,
          soon(() => 'done'),
          fail,
        ),
      ),
    ).toBe('done');
    expect(
      await after(
        50,
        within(
          100,
          soon(() => undefined),
          fail,
        ),
      ),
    ).toBeUndefined();
    await expect(
      after(
        50,
        within(100, soon(fail), () => 'late'),
      ),
    ).rejects.toThrow('no');
  });

  it('returns or throws the fallback at the limit', async () => {
    expect(
      await after(
        100,
        within(100, NEVER, () => 'late'),
      ),
    ).toBe('late');
    await expect(after(100, within(100, NEVER, fail))).rejects.toThrow('no');
  });

  it('ignores a failure after the limit', async () => {
    const unheard = jest.fn();
    process.once('unhandledRejection', unheard);
    expect(
      await after(
        20,
        within(20, soon(fail), () => 'late'),
      ),
    ).toBe('late');
    await jest.advanceTimersByTimeAsync(50);
    jest.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', unheard);
    expect(unheard).not.toHaveBeenCalled();
    jest.useFakeTimers();
  });

  it('reports whether work ended, resolved or rejected', async () => {
    expect(
      await after(
        50,
        endsWithin(
          100,
          soon(() => 'done'),
        ),
      ),
    ).toBe(true);
    expect(await after(50, endsWithin(100, soon(fail)))).toBe(true);
    expect(await after(100, endsWithin(100, NEVER))).toBe(false);
  });
});
