import { describe, expect, it } from '@jest/globals';
import { isContent, type CanonicalEvent } from './canonical-event.js';
import { NO_USAGE } from './usage.js';

const relay = {
  type: 'relay',
  dialect: 'chat',
  bytes: Buffer.from('x'),
  outputCharacters: 0,
} as const;

describe(isContent.name, () => {
  it.each<[CanonicalEvent, boolean]>([
    [{ type: 'start', id: 'x' }, false],
    [{ type: 'text', choice: 0, text: '' }, false],
    [{ type: 'text', choice: 0, text: ' ' }, true],
    [{ type: 'reasoning', choice: 0, text: '' }, false],
    [{ type: 'reasoning', choice: 0, text: 'hm' }, true],
    [{ type: 'refusal', choice: 0, text: 'no' }, true],
    [{ type: 'tool_call', choice: 0, index: 0, id: 'a', name: 'b' }, true],
    [{ type: 'tool_arguments', choice: 0, index: 0, text: '' }, true],
    [{ type: 'finish', choice: 0, reason: 'stop' }, true],
    [{ ...relay, hasContent: false }, false],
    [{ ...relay, hasContent: true }, true],
    [{ type: 'usage', usage: NO_USAGE }, false],
    [{ type: 'settled', cost: 1, usage: NO_USAGE, usageSource: 'none' }, false],
  ])('classifies %j as content: %s', (event, expected) => {
    expect(isContent(event)).toBe(expected);
  });
});
