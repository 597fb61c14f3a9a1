import { describe, expect, it } from '@jest/globals';
import { growTail, sinceIdOf, startTail } from './tail';

const row = (id: string) => ({ id });
const idsOf = ({ rows }: { rows: readonly { id: string }[] }) => rows.map(({ id }) => id);

describe('tail', () => {
  it('starts twenty rows before the highest id', () => {
    expect(sinceIdOf(startTail([row('20'), row('100'), row('9')]))).toBe('9');
    const known = Array.from({ length: 50 }, (_, index) => row(String(100 - index)));
    expect(sinceIdOf(startTail(known))).toBe('81');
    expect(sinceIdOf(startTail([]))).toBe('0');
  });

  it('finds a row that was written while the list was read', () => {
    const known = ['9', '7', '6'].map(row);
    const found = growTail(startTail(known), ['8', '9', '7'].map(row), new Set(['9', '7', '6']));
    expect(idsOf(found)).toEqual(['8']);
  });

  it('adds each new row once, on top', () => {
    let tail = startTail([row('5')]);
    tail = growTail(tail, [row('7'), row('6')], new Set(['5']));
    tail = growTail(tail, [row('8'), row('7'), row('6')], new Set(['5']));
    expect(idsOf(tail)).toEqual(['8', '7', '6']);
    expect(idsOf(growTail(tail, [row('5')], new Set(['5'])))).toEqual(['8', '7', '6']);
  });

  it('finds a row that became visible after a later one', () => {
    let tail = growTail(startTail([row('5')]), [row('8')], new Set(['5']));
    expect(Number(sinceIdOf(tail))).toBeLessThan(7);
    tail = growTail(tail, [row('8'), row('7')], new Set(['5']));
    expect(idsOf(tail)).toEqual(['8', '7']);
  });

  it('overlaps with the last three polls only', () => {
    let tail = startTail([row('5')]);
    for (const id of ['6', '7', '8', '9']) tail = growTail(tail, [row(id)], new Set());
    expect(sinceIdOf(tail)).toBe('7');
    for (let poll = 0; poll < 3; poll++) tail = growTail(tail, [], new Set());
    expect(sinceIdOf(tail)).toBe('9');
  });
});
