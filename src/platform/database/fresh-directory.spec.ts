import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FreshDirectory } from './fresh-directory.js';

interface Row {
  name: string;
  version: number;
}

describe(FreshDirectory.name, () => {
  let rows: Map<string, Row>;
  let queries: string[][];
  let latencyMs: number;
  let failure: Error | undefined;
  let directory: FreshDirectory<Row>;

  const open = (options: { refreshAfterMs?: number; isNamed?: boolean } = {}) =>
    new FreshDirectory<Row>({
      refreshAfterMs: options.refreshAfterMs,
      ...(options.isNamed && { nameOf: ({ name }: Row) => name }),
      read: async (ids) => {
        queries.push([...ids]);
        // Copies the rows as they are when the query is sent.
        const found = ids.flatMap((id) => {
          const row = rows.get(id);
          return row ? [[id, { ...row }] as const] : [];
        });
        await new Promise((resolve) => setTimeout(resolve, latencyMs));
        if (failure) throw failure;
        return new Map(found);
      },
    });

  beforeEach(() => {
    jest.useFakeTimers();
    rows = new Map([['a', { name: 'name of a', version: 1 }]]);
    queries = [];
    latencyMs = 0;
    failure = undefined;
    directory = open();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  async function get(id: string): Promise<Row | undefined> {
    const answer = directory.get(id);
    await jest.runAllTimersAsync();
    return answer;
  }

  it('reads once, then answers without a promise for 900 ms', async () => {
    await get('a');
    rows.get('a')!.version = 2;
    jest.advanceTimersByTime(890);
    expect(directory.get('a')).toMatchObject({ version: 1 });
    jest.advanceTimersByTime(10);
    expect(await get('a')).toMatchObject({ version: 2 });
  });

  it('refreshes values in use in the background', async () => {
    directory = open({ refreshAfterMs: 400 });
    await get('a');
    rows.get('a')!.version = 2;
    jest.advanceTimersByTime(400);
    expect(directory.get('a')).toMatchObject({ version: 1 });
    await jest.advanceTimersByTimeAsync(10);
    expect(directory.get('a')).toMatchObject({ version: 2 });
    expect(queries).toHaveLength(2);
  });

  it('hides a failed refresh until the value expires', async () => {
    directory = open({ refreshAfterMs: 400 });
    await get('a');
    failure = new Error('no database');
    jest.advanceTimersByTime(400);
    expect(directory.get('a')).toMatchObject({ version: 1 });
    await jest.advanceTimersByTimeAsync(10);
    jest.advanceTimersByTime(500);
    const late = expect(directory.get('a')).rejects.toThrow('no database');
    await jest.runAllTimersAsync();
    await late;
  });

  it('does not remember missing values', async () => {
    expect(await get('b')).toBeUndefined();
    rows.set('b', { name: 'b', version: 1 });
    expect(await get('b')).toBeDefined();
  });

  it('forgets deleted values', async () => {
    await get('a');
    rows.delete('a');
    jest.advanceTimersByTime(900);
    expect(await get('a')).toBeUndefined();
    rows.set('a', { name: 'name of a', version: 3 });
    expect(await get('a')).toMatchObject({ version: 3 });
  });

  it.each([
    ['id', false, 'a'],
    ['name', true, 'name of a'],
  ])('forgets a value at once by %s', async (_case, isNamed, name) => {
    directory = open({ isNamed });
    await get('a');
    rows.get('a')!.version = 2;
    directory.forget(name);
    expect(await get('a')).toMatchObject({ version: 2 });
  });

  it.each([
    ['id', false, 'a'],
    ['name', true, 'name of a'],
  ])('repeats a query that a change overtook, by %s', async (_case, isNamed, name) => {
    directory = open({ isNamed });
    latencyMs = 10;
    const answer = directory.get('a');
    await jest.advanceTimersByTimeAsync(5);
    rows.get('a')!.version = 2;
    directory.forget(name);
    await jest.runAllTimersAsync();
    expect(await answer).toMatchObject({ version: 2 });
    expect(queries).toHaveLength(2);
  });

  it('batches concurrent reads and runs one query at a time', async () => {
    latencyMs = 10;
    const answers = [directory.get('a'), directory.get('b'), directory.get('a')];
    await jest.advanceTimersByTimeAsync(5);
    answers.push(directory.get('c'));
    await jest.runAllTimersAsync();
    await Promise.all(answers);
    expect(queries).toEqual([['a', 'b'], ['c']]);
  });

  it('evicts the value read first, with its name, when full', async () => {
    directory = open({ isNamed: true });
    for (let index = 0; index <= 20_000; index++) {
      rows.set(`id ${index}`, { name: `name ${index}`, version: 1 });
    }
    const answers = [...rows.keys()].slice(1).map((id) => directory.get(id));
    await jest.runAllTimersAsync();
    await Promise.all(answers);
    expect(directory.get('id 20000')).toMatchObject({ name: 'name 20000' });
    const { entries, idsByName } = directory as unknown as Record<
      string,
      Pick<Map<string, unknown>, 'size' | 'has'>
    >;
    expect([entries?.size, idsByName?.size]).toEqual([20_000, 20_000]);
    expect([entries?.has('id 0'), idsByName?.has('name 0')]).toEqual([false, false]);
  });
});
