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

/** A directory over destinations that a test can change or make unavailable. */
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

  it('forgets destinations after one second, since other instances may change them', async () => {
    const { directory, stored } = openDirectory();
    expect(await read(directory)).toEqual([]);
    expect(directory.peek('t')).toEqual([]);
    stored.now = [CHOICE];
    await jest.advanceTimersByTimeAsync(1_000);
    // Unknown, rather than without destinations.
    expect(directory.peek('t')).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(directory.peek('t')).toEqual([CHOICE]);
  });

  it('keeps the destinations of a busy tenant in memory', async () => {
    const { directory } = openDirectory();
    await read(directory);
    for (let passedMs = 0; passedMs < 5_000; passedMs += 10) {
      expect(directory.peek('t')).toEqual([]);
      await jest.advanceTimersByTimeAsync(10);
    }
  });

  it('remembers the last known destinations while the database is unavailable', async () => {
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
