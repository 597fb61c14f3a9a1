import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

interface Figure {
  name: string;
  unit: string;
  values: number[];
  floor: number;
}
interface BenchRecord {
  date: string;
  commit: string;
  mode: string;
  rows: Record<string, Figure[]>;
}
interface Change {
  row: string;
  name: string;
  from: number;
  to: number;
  verdict: string;
}
interface BenchHistory {
  toRecord: (run: object, now: Date) => BenchRecord;
  writeRecord: (record: BenchRecord, folder: string) => string;
  readRecord: (named: string | undefined, mode: string, folder: string) => BenchRecord;
  compareRecords: (before: BenchRecord, after: BenchRecord) => Change[];
  changesToMarkdown: (changes: Change[]) => string;
}

let history: BenchHistory;
let folder: string;

beforeAll(async () => {
  const path: string = '../bench/history.mjs';
  history = (await import(path)) as BenchHistory;
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-history-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function recordOf(values: number[], { mode = 'usual', date = '2026-11-23T03:00:00Z' } = {}) {
  const figure = { name: 'CPU, Node', unit: '×', values, floor: 0.02 };
  return { date, commit: `of-${date.slice(8, 10)}`, mode, rows: { alone: [figure] } };
}

function verdictOf(before: number[], after: number[]): string | undefined {
  return history.compareRecords(recordOf(before), recordOf(after))[0]?.verdict;
}

describe('the comparison of two bench runs', () => {
  it.each([
    ['the same', [2, 2, 2], [2, 2, 2], 'same'],
    ['worse by less than 5 %', [2, 2, 2], [2.09, 2.09, 2.09], 'same'],
    ['worse by more', [2, 2, 2], [2.11, 2.11, 2.11], 'worse'],
    [
      'worse by more, but within the rounds of the earlier run',
      [1.8, 2, 2.2],
      [2.2, 2.2, 2.2],
      'same',
    ],
    ['worse by more, but within the rounds of the later run', [2, 2, 2], [1.9, 2.2, 2.3], 'same'],
    ['better by more', [2, 2, 2], [1.8, 1.8, 1.8], 'better'],
    ['worse by less than the resolution', [0.1], [0.119], 'same'],
    ['added latency that was below the baseline', [-0.2], [0.3], 'worse'],
  ])('%s', (_name, before, after, verdict) => {
    expect(verdictOf(before, after)).toBe(verdict);
  });

  it('leaves out rows and figures that are in one run only', () => {
    const before = recordOf([2]);
    const after = { ...recordOf([9]), rows: { eight: recordOf([9]).rows.alone ?? [] } };
    expect(history.compareRecords(before, after)).toEqual([]);
  });

  it('shows what became worse in a table', () => {
    const table = history.changesToMarkdown(history.compareRecords(recordOf([2]), recordOf([3])));
    expect(table).toContain('| alone | CPU, Node | 2.00 × | 3.00 × | +1.00 | ± 0.10 | **worse** |');
  });
});

describe('the history of the bench', () => {
  it('finds a record by its commit, its file or as the newest of its mode', () => {
    const old = recordOf([2], { date: '2026-11-21T03:00:00Z' });
    const newest = recordOf([3], { date: '2026-11-22T03:00:00Z' });
    const quick = recordOf([4], { date: '2026-11-23T03:00:00Z', mode: 'quick' });
    for (const record of [newest, old, quick]) history.writeRecord(record, folder);

    expect(readdirSync(folder).sort()).toEqual([
      '2026-11-21-of-21.json',
      '2026-11-22-of-22.json',
      '2026-11-23-of-23-quick.json',
    ]);
    expect(history.readRecord(undefined, 'usual', folder)).toEqual(newest);
    expect(history.readRecord('of-21', 'usual', folder)).toEqual(old);
    const file = join(folder, '2026-11-21-of-21.json');
    expect(history.readRecord(file, 'usual', folder)).toEqual(old);
  });

  it('explains what cannot be compared', () => {
    expect(() => history.readRecord(undefined, 'usual', folder)).toThrow(
      'No record of a usual run; make one with --record.',
    );
    expect(() => history.readRecord('nothing', 'usual', folder)).toThrow(
      'No record is called nothing.',
    );
    history.writeRecord(recordOf([4], { mode: 'quick' }), folder);
    expect(() => history.readRecord('of-23', 'usual', folder)).toThrow(
      'of-23 is of a quick run, and this is a usual one.',
    );
    writeFileSync(join(folder, 'broken.json'), '{');
    expect(() => history.readRecord(undefined, 'usual', folder)).toThrow(SyntaxError);
  });

  it('records no host name, and figures of five digits', () => {
    const conditions = { node: '20.0.0', cores: 2 };
    const results = [
      { id: 'alone', figures: recordOf([1.23456789]).rows.alone, lines: [], rounds: [] },
    ];
    const record = history.toRecord(
      { mode: 'quick', results, otherCores: 0.123456789, conditions },
      new Date(Date.UTC(2026, 10, 23, 3)),
    );
    expect(record).toEqual({
      date: '2026-11-23T03:00:00Z',
      commit: expect.any(String),
      mode: 'quick',
      node: '20.0.0',
      cores: 2,
      other_cores: 0.12346,
      rows: { alone: [{ name: 'CPU, Node', unit: '×', values: [1.2346], floor: 0.02 }] },
    });
  });
});
