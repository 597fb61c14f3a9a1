import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { BodyBudget } from '../../../platform/http/body-budget.js';
import { parseRange, sendFile } from './artifact-response.js';

const part = (start: number, end: number) => ({ start, end });

describe(sendFile.name, () => {
  it('yields to other work between a few chunks of many readers', async () => {
    const share = new BodyBudget(1).shareOf('a');
    const readers = Array.from({ length: 20 }, () => {
      const sent = Object.assign(new EventEmitter(), {
        pieces: 0,
        destroyed: false,
        writeHead: () => sent,
        write: () => Boolean(++sent.pieces),
        end: () => sent,
      });
      const answer = { share, status: 200, headers: {}, onFirstBytes: async () => undefined };
      const file = Readable.from(Array.from({ length: 10 }, () => Buffer.alloc(1)));
      return { sent, isOver: sendFile(sent as unknown as ServerResponse, file, answer) };
    });
    let turns = 0;
    let isOver = false;
    const countTurns = (): void => {
      turns++;
      if (!isOver) setImmediate(countTurns);
    };
    countTurns();
    await Promise.all(readers.map((reader) => reader.isOver));
    isOver = true;
    expect(readers.map(({ sent }) => sent.pieces)).toEqual(Array.from({ length: 20 }, () => 10));
    expect(turns).toBeGreaterThan(50);
  });
});

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
  ])('parses %j of %i bytes as %j', (header, bytes, expected) => {
    expect(parseRange(header, bytes)).toEqual(expected);
  });
});
