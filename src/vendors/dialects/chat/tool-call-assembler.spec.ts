import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { ToolCallAssembler } from './tool-call-assembler.js';

interface Assembled {
  id: string;
  name: string;
  arguments: string;
}

type Entry = Record<string, unknown>;

function piece(index: number | undefined, id?: string, name?: string, args?: unknown): Entry {
  return { index, id, type: 'function', function: { name, arguments: args } };
}

function assemble(...entries: Entry[]): Assembled[] {
  const assembler = new ToolCallAssembler(0);
  const events: CanonicalEvent[] = [];
  for (const entry of entries) assembler.push(entry, events);
  assembler.close(events);
  const calls: Assembled[] = [];
  for (const event of events) {
    if (event.type === 'tool_call') {
      expect(event.index).toBe(calls.length);
      calls.push({ id: event.id, name: event.name, arguments: '' });
    } else if (event.type === 'tool_arguments') calls[event.index]!.arguments += event.text;
  }
  return calls;
}

const paris = { id: 'a', name: 'f', arguments: '{"c":"Paris"}' };
const rome = { id: 'b', name: 'f', arguments: '{"c":"Rome"}' };

describe(ToolCallAssembler.name, () => {
  it('rejects endless arguments of a call without a name', () => {
    const endless = Array.from({ length: 6 }, () =>
      piece(0, 'a', undefined, 'x'.repeat(3_000_000)),
    );
    expect(() => assemble(...endless)).toThrow('16777216 characters');
  });

  it.each<[string, Entry[]]>([
    [
      'conforming pieces, one call after the other',
      [
        piece(0, 'a', 'f', ''),
        piece(0, undefined, undefined, '{"c":"'),
        piece(0, undefined, undefined, 'Paris"}'),
        piece(1, 'b', 'f', ''),
        piece(1, undefined, undefined, '{"c":"Rome"}'),
      ],
    ],
    [
      'conforming pieces, interleaved',
      [
        piece(0, 'a', 'f', ''),
        piece(1, 'b', 'f', ''),
        piece(0, undefined, undefined, '{"c":"Par'),
        piece(1, undefined, undefined, '{"c":"Ro'),
        piece(0, undefined, undefined, 'is"}'),
        piece(1, undefined, undefined, 'me"}'),
      ],
    ],
    ['whole calls', [piece(0, 'a', 'f', paris.arguments), piece(1, 'b', 'f', rome.arguments)]],
    [
      'whole calls without an index',
      [piece(undefined, 'a', 'f', paris.arguments), piece(undefined, 'b', 'f', rome.arguments)],
    ],
    [
      'pieces without an index',
      [
        piece(undefined, 'a', 'f', '{"c":'),
        piece(undefined, undefined, undefined, '"Paris"}'),
        piece(undefined, 'b', 'f', ''),
        piece(undefined, undefined, undefined, rome.arguments),
      ],
    ],
    [
      'pieces with an id but no index',
      [
        piece(undefined, 'a', 'f', '{"c":'),
        piece(undefined, 'b', 'f', '{"c":'),
        piece(undefined, 'a', undefined, '"Paris"}'),
        piece(undefined, 'b', undefined, '"Rome"}'),
      ],
    ],
    [
      'whole calls that all have index 0',
      [piece(0, 'a', 'f', paris.arguments), piece(0, 'b', 'f', rome.arguments)],
    ],
    [
      'pieces that all have index 0',
      [
        piece(0, 'a', 'f', '{"c":'),
        piece(0, undefined, undefined, '"Paris"}'),
        piece(0, 'b', 'f', ''),
        piece(0, 'b', undefined, '{"c":'),
        piece(0, undefined, undefined, '"Rome"}'),
      ],
    ],
    [
      'id and name in every piece',
      [
        piece(0, 'a', 'f', '{"c":'),
        piece(0, 'a', 'f', '"Paris"}'),
        piece(1, 'b', 'f', '{"c":'),
        piece(1, 'b', 'f', '"Rome"}'),
      ],
    ],
    [
      'a new id in every piece',
      [
        piece(0, 'a', 'f', '{"c":'),
        piece(0, 'x', undefined, '"Paris"}'),
        piece(1, 'b', 'f', '{"c":'),
        piece(1, 'y', '', '"Rome"}'),
      ],
    ],
    [
      'a name after the first arguments',
      [
        piece(0, 'a', undefined, '{"c":'),
        piece(0, undefined, 'f', '"Paris"}'),
        piece(1, 'b', 'f', rome.arguments),
      ],
    ],
    [
      'the index after the first piece',
      [
        piece(undefined, 'a', 'f', '{"c":'),
        piece(0, undefined, undefined, '"Paris"}'),
        piece(1, 'b', 'f', rome.arguments),
      ],
    ],
    [
      'indexes that start at 1',
      [piece(1, 'a', 'f', paris.arguments), piece(2, 'b', 'f', rome.arguments)],
    ],
    [
      'arguments as an object',
      [piece(0, 'a', 'f', { c: 'Paris' }), piece(1, 'b', 'f', { c: 'Rome' })],
    ],
  ])('reads %s', (_name, entries) => {
    expect(assemble(...entries)).toEqual([paris, rome]);
  });

  it.each<[string, string | undefined, string | undefined]>([
    ['no ids', undefined, undefined],
    ['empty ids', '', ''],
    ['one id for all calls', 'same', 'same'],
  ])('gives each call a unique id when the server sends %s', (_name, one, other) => {
    const calls = assemble(piece(0, one, 'f', '{"c":'), piece(1, other, 'g', '{}'), {
      ...piece(0, undefined, undefined, '1}'),
    });
    expect(calls).toMatchObject([
      { name: 'f', arguments: '{"c":1}' },
      { name: 'g', arguments: '{}' },
    ]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    expect(calls.every((call) => call.id.length > 3)).toBe(true);
  });

  it('distinguishes calls without id and index by their names', () => {
    const calls = assemble(
      piece(undefined, undefined, 'f', '{"c":'),
      piece(undefined, undefined, undefined, '1}'),
      piece(undefined, undefined, 'f', '{}'),
    );
    expect(calls.map((call) => call.arguments)).toEqual(['{"c":1}', '{}']);
  });

  it.each([undefined, '', null])('turns the arguments %j into {}', (args) => {
    expect(assemble(piece(0, 'a', 'f', args))).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  it('finds a call among forty thousand by id without scanning', () => {
    const assembler = new ToolCallAssembler(0);
    const events: CanonicalEvent[] = [];
    const startedMs = performance.now();
    for (let at = 0; at < 40_000; at++) assembler.push(piece(0, `c${at}`, 'f', '{}'), events);
    expect(events).toHaveLength(80_000);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  it('rejects a call that never gets a name', () => {
    expect(() => assemble(piece(0, 'a', undefined, '{}'))).toThrow('a tool call without a name');
  });
});
