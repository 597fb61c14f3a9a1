import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent, WorkEvent } from '../../../canonical/canonical-event.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { CacheRecorder } from './cache-recorder.js';
import { decodeAnswer, encodeAnswer, type CachedAnswer } from './cached-answer.js';
import type { BillableRoute } from '../../../canonical/billable-route.js';

type AnswerEvent = CanonicalEvent | WorkEvent<unknown>;

const route = { model: 'a/b', provider: 'a', catalogueId: 'a/*' } as BillableRoute;
const named: CanonicalEvent = { type: 'route', route, droppedParams: ['seed'] };
const text = (value: string, choice = 0): CanonicalEvent => ({ type: 'text', choice, text: value });
const thought = (value: string, signature?: string): CanonicalEvent => ({
  type: 'reasoning',
  choice: 0,
  text: value,
  ...(signature && { signature }),
});
const call = (index: number): CanonicalEvent => ({
  type: 'tool_call',
  choice: 0,
  index,
  id: `id${index}`,
  name: 'f',
});
const args = (index: number, value: string): CanonicalEvent => ({
  type: 'tool_arguments',
  choice: 0,
  index,
  text: value,
});
const finish = (reason: string, choice = 0): CanonicalEvent => ({ type: 'finish', choice, reason });
const usage: CanonicalEvent = { type: 'usage', usage: { ...NO_USAGE, inputTokens: 3 } };

function record(events: AnswerEvent[], maxCharacters = 1_000): CachedAnswer | undefined {
  const recorder = new CacheRecorder(maxCharacters);
  for (const event of events) recorder.observe(Object.freeze(event));
  return recorder.result(() => 'upstream-b');
}

describe(CacheRecorder.name, () => {
  it('joins the pieces of each text and preserves their order', () => {
    const events = [
      named,
      { type: 'start', id: 'x' } as const,
      thought('I '),
      thought('think', 'a:signature'),
      thought('more'),
      text('Hel'),
      text('lo', 0),
      call(0),
      args(0, '{"a"'),
      args(0, ':1}'),
      call(1),
      args(1, '{}'),
      args(0, ' '),
      finish('tool_calls'),
      usage,
    ];
    expect(record(events)).toEqual({
      route: { ...route, upstreamModel: 'upstream-b' },
      droppedParams: ['seed'],
      events: [
        usage,
        thought('I think', 'a:signature'),
        thought('more'),
        text('Hello'),
        call(0),
        args(0, '{"a":1}'),
        call(1),
        args(1, '{}'),
        args(0, ' '),
        finish('tool_calls'),
      ],
    });
  });

  it('joins interleaved choices separately', () => {
    const turns = [
      text('a'),
      text('x', 1),
      text('b'),
      text('y', 1),
      finish('stop'),
      finish('length', 1),
    ];
    expect(record([named, ...turns])?.events).toEqual([
      text('ab'),
      text('xy', 1),
      finish('stop'),
      finish('length', 1),
    ]);
  });

  it('keeps pieces with log probabilities separate', () => {
    const piece = (value: string): CanonicalEvent => ({
      ...text(value),
      type: 'text',
      choice: 0,
      text: value,
      logprobs: { content: [{ token: value }] },
    });
    const pieces = [piece('a'), piece('b'), text('c')];
    expect(record([named, ...pieces, finish('stop')])?.events.slice(0, 3)).toEqual(pieces);
  });

  it('accepts an empty answer and uses the last usage report', () => {
    const first: CanonicalEvent = { type: 'usage', usage: NO_USAGE };
    expect(record([named, first, usage, finish('stop')])?.events).toEqual([usage, finish('stop')]);
  });

  it('reads a relayed response from its final event', () => {
    const piece = {
      type: 'relay',
      dialect: 'responses',
      bytes: Buffer.from('x'),
      hasContent: true,
      outputCharacters: 1,
    } as const;
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }];
    const { usage: counts } = usage as { usage: typeof NO_USAGE };
    const end = { ...piece, answer: { output }, usage: counts, finishReason: 'stop' };
    expect(record([named, piece, end])?.events).toEqual([usage, text('Hi'), finish('stop')]);
    expect(record([named, piece])).toBeUndefined();
    expect(record([named, { ...end, finishReason: 'content_filter' }])).toBeUndefined();
    expect(record([named, { ...end, answer: { output: [{ type: 'x' }] } }])).toBeUndefined();
  });

  it.each<[string, AnswerEvent[]]>([
    ['was filtered', [text('a'), finish('content_filter')]],
    ['ended for a reason of the vendor', [text('a'), finish('pause_turn')]],
    ['did not end', [text('a')]],
    ['continued after its end', [text('a'), finish('stop'), text('b')]],
    ['has a choice without an end', [text('a'), text('b', 1), finish('stop', 1)]],
    ['has a choice that was filtered', [text('a'), finish('stop'), finish('content_filter', 1)]],
    ['is empty', []],
    ['is too long', [text('a'.repeat(900)), text('b'.repeat(101)), finish('stop')]],
    [
      'was relayed',
      [
        {
          type: 'relay',
          dialect: 'chat',
          bytes: Buffer.from('{}'),
          hasContent: true,
          outputCharacters: 1,
          finishReason: 'stop',
        },
      ],
    ],
    ['has too many numbers', [{ type: 'output', output: [Array.from({ length: 91 }, () => 1)] }]],
  ])('does not store an answer that %s', (_name, events) => {
    expect(record([named, ...events])).toBeUndefined();
  });
});

describe('encodeAnswer and decodeAnswer', () => {
  it('round-trip an answer, with vectors bit for bit', () => {
    const vectors = [[0.1, -1e-300, 1 / 3, Math.fround(0.7), 0], 'AACAPw==', []];
    const answer = record([named, { type: 'output', output: vectors }, usage])!;
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
    const odd = record([named, text('\u0000 \ud800 é 👋 "'), finish('stop')])!;
    expect(decodeAnswer(encodeAnswer(odd))).toEqual(odd);
  });

  it.each(['', '{', '{}', 'null', '[1]', '{"events":1}', '{"events":[{"type":"output"}]}'])(
    'are undefined for %j',
    (bytes) => {
      expect(decodeAnswer(Buffer.from(bytes))).toBeUndefined();
    },
  );
});
