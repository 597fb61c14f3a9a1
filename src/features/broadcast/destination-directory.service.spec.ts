import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DestinationDirectory } from './destination-directory.service.js';
import type { DestinationRepository, DestinationChoice } from './destination.repository.js';

const CHOICE: DestinationChoice = {
  id: 'd',
  samplingRate: 1,
  includesContent: false,
  scopeKeyId: null,
  isFailing: false,
};

/** A directory over destinations that anybody may change, and that can be away. */
function openDirectory() {
  const stored = { now: [] as DestinationChoice[], isAway: false };
  const repository = {
    findChoices: (tenantIds: readonly string[]) =>
      stored.isAway
        ? Promise.reject(new Error('away'))
        : Promise.resolve(new Map(tenantIds.map((id) => [id, stored.now]))),
  } as unknown as DestinationRepository;
  return { directory: new DestinationDirectory(repository), stored };
}

describe(DestinationDirectory.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const read = async (directory: DestinationDirectory): Promise<readonly DestinationChoice[]> => {
    const found = directory.of('t');
    await jest.advanceTimersByTimeAsync(1);
    return found;
  };

  it('says nothing of what somebody else may have changed more than a second ago', async () => {
    const { directory, stored } = openDirectory();
    expect(await read(directory)).toEqual([]);
    expect(directory.peek('t')).toEqual([]);
    stored.now = [CHOICE];
    await jest.advanceTimersByTimeAsync(1_000);
    // The next request finds no destination here yet, but must not be taken for one of no interest.
    expect(directory.peek('t')).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(directory.peek('t')).toEqual([CHOICE]);
  });

  it('always knows those of a tenant that is busy', async () => {
    const { directory } = openDirectory();
    await read(directory);
    for (let passedMs = 0; passedMs < 5_000; passedMs += 10) {
      expect(directory.peek('t')).toEqual([]);
      await jest.advanceTimersByTimeAsync(10);
    }
  });

  it('remembers for whom traces were meant while they cannot be read', async () => {
    const { directory, stored } = openDirectory();
    expect(directory.lastKnown('t')).toEqual([]);
    stored.now = [CHOICE];
    await read(directory);
    stored.isAway = true;
    await jest.advanceTimersByTimeAsync(120_000);
    expect(directory.peek('t')).toBeUndefined();
    expect(directory.lastKnown('t')).toEqual([CHOICE]);
  });
});
