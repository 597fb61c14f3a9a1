import { describe, expect, it } from '@jest/globals';
import { parseRange } from './artifact-response.js';

const part = (start: number, end: number) => ({ start, end });

describe(parseRange.name, () => {
  it.each<[string | undefined, number, ReturnType<typeof parseRange>]>([
    [undefined, 10, 'whole'],
    ['', 10, 'whole'],
    ['bytes=0-3', 10, part(0, 3)],
    ['Bytes=0-3', 10, part(0, 3)],
    ['bytes= 0-3 ', 10, part(0, 3)],
    ['bytes=9-9', 10, part(9, 9)],
    ['bytes=4-', 10, part(4, 9)],
    ['bytes=4-99', 10, part(4, 9)],
    ['bytes=-3', 10, part(7, 9)],
    ['bytes=-99', 10, part(0, 9)],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=10-12', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-1', 0, 'unsatisfiable'],
    [`bytes=${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
    ['bytes=5-4', 10, 'whole'],
    ['bytes=-', 10, 'whole'],
    ['bytes=a-b', 10, 'whole'],
    ['bytes=0-1,4-5', 10, 'whole'],
    ['items=0-3', 10, 'whole'],
    ['bytes 0-3', 10, 'whole'],
    ['bytes=--3', 10, 'whole'],
    ['bytes=1.5-3', 10, 'whole'],
  ])('reads %j of %i bytes as %j', (header, bytes, expected) => {
    expect(parseRange(header, bytes)).toEqual(expected);
  });
});
