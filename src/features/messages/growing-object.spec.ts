import { describe, expect, it } from '@jest/globals';
import { BlockSequence } from './block-sequence.js';
import { GrowingObject } from './growing-object.js';

function isWhole(...pieces: string[]): boolean {
  const object = new GrowingObject();
  for (const piece of pieces) object.push(piece);
  return object.isWhole;
}

describe(GrowingObject.name, () => {
  it.each([
    '{}',
    ' {"a":[{"b":"}"}]}\n',
    String.raw`{"a":"\"}\\"}`,
    '{"a":1}}',
    '{"a":1} {}',
    '{"a":1',
    '{"a":"}',
    '{"a":}',
    '{"a":1]',
    '[{}]',
    '}{',
    '"{}"',
    '7',
    '',
  ])('recognizes complete text, however it is split: %s', (text) => {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    const expected = typeof parsed === 'object' && !Array.isArray(parsed);
    expect(isWhole(text)).toBe(expected);
    expect(isWhole(...text)).toBe(expected);
    for (let cut = 0; cut <= text.length; cut++) {
      expect(isWhole(text.slice(0, cut), text.slice(cut))).toBe(expected);
    }
  });
});

describe(BlockSequence.name, () => {
  it('accepts arguments of many objects, and parallel calls, in linear time', () => {
    const blocks = new BlockSequence();
    const startedMs = performance.now();
    blocks.toolCall(0, 'a', 'f', undefined);
    let written = blocks.toolArguments(0, '{"a":[{}');
    for (let index = 1; index <= 20_000; index++) {
      written += blocks.toolArguments(0, ',{}');
      written += blocks.toolCall(index, `c${index}`, 'f', undefined);
    }
    written += blocks.toolArguments(0, ']}');
    written += blocks.end();
    // Parsing all of it for each piece took 18 s.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(written.match(/event: content_block_stop/g)).toHaveLength(20_001);
  });
});
