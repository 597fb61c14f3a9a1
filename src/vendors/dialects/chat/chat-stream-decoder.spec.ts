import { describe, expect, it } from '@jest/globals';
import {
  chunk,
  delta,
  DONE,
  finish,
  slices,
  usageChunk,
} from '../../../../test/support/vendor-stream.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { UpstreamError } from '../../upstream-error.js';
import { ChatStreamDecoder } from './chat-stream-decoder.js';

const START = { type: 'start', id: 'chatcmpl-x' };
const USAGE = { ...NO_USAGE, inputTokens: 10, outputTokens: 5 };

/** Returns all events of a stream in these pieces. @throws its failure */
function decode(...pieces: (string | Buffer)[]): CanonicalEvent[] {
  const decoder = new ChatStreamDecoder();
  const events: CanonicalEvent[] = [];
  for (const piece of pieces) {
    events.push(...decoder.push(Buffer.from(piece)));
    if (decoder.failure) throw decoder.failure;
  }
  return [...events, ...decoder.end()];
}

function failureOf(run: () => unknown): UpstreamError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(UpstreamError);
    return error as UpstreamError;
  }
  throw new Error('nothing was thrown');
}

describe(ChatStreamDecoder.name, () => {
  it('reads text, the finish reason and the usage', () => {
    expect(
      decode(
        delta({ role: 'assistant', content: '', refusal: null }),
        delta({ content: 'Hel' }),
        delta({ content: 'lo' }),
        finish(),
        usageChunk(),
        DONE,
      ),
    ).toEqual([
      START,
      { type: 'text', choice: 0, text: 'Hel' },
      { type: 'text', choice: 0, text: 'lo' },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'usage', usage: USAGE },
    ]);
  });

  it('reads reasoning under either name once, refusals, and text in parts', () => {
    const events = decode(
      delta({ reasoning_content: 'a', reasoning: 'a' }),
      delta({ reasoning: 'b' }),
      delta({ content: [{ type: 'text', text: 'c' }, { type: 'other' }] }),
      delta({ refusal: 'd' }),
      finish(),
    );
    expect(events.slice(1, -1)).toEqual([
      { type: 'reasoning', choice: 0, text: 'a' },
      { type: 'reasoning', choice: 0, text: 'b' },
      { type: 'text', choice: 0, text: 'c' },
      { type: 'refusal', choice: 0, text: 'd' },
    ]);
  });

  it('keeps log probabilities with their text', () => {
    const logprobs = { content: [{ token: 'a', logprob: -1 }], refusal: null };
    const choice = { index: 0, delta: { content: 'a' }, logprobs, finish_reason: null };
    const empty = { index: 0, delta: { content: '' }, logprobs: { content: [] } };
    const events = decode(chunk({ choices: [empty] }), chunk({ choices: [choice] }), finish());
    expect(events[1]).toEqual({ type: 'text', choice: 0, text: 'a', logprobs });
  });

  it('reads tool calls and renames a stop after them', () => {
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } };
    const events = decode(
      delta({ tool_calls: [call] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      finish(),
    );
    expect(events.slice(1)).toEqual([
      { type: 'tool_call', choice: 0, index: 0, id: 'a', name: 'f' },
      { type: 'tool_arguments', choice: 0, index: 0, text: '{}' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
    ]);
  });

  it('keeps choices separate', () => {
    const events = decode(
      delta({ content: 'a' }),
      delta({ content: 'b' }, null, 1),
      delta({}, 'length', 1),
      delta({}, 'stop'),
    );
    expect(events.slice(1)).toEqual([
      { type: 'text', choice: 0, text: 'a' },
      { type: 'text', choice: 1, text: 'b' },
      { type: 'finish', choice: 1, reason: 'length' },
      { type: 'finish', choice: 0, reason: 'stop' },
    ]);
  });

  it('takes the last usage of any chunk, even inside a choice', () => {
    const early = { prompt_tokens: 1, completion_tokens: 1 };
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const choice = { index: 0, delta: {}, finish_reason: 'stop', usage };
    const events = decode(
      chunk({ choices: [{ index: 0, delta: { content: 'a' } }], usage: early }),
      chunk({ choices: [choice] }),
    );
    expect(events.filter((event) => event.type === 'usage')).toEqual([
      { type: 'usage', usage: { ...NO_USAGE, inputTokens: 1, outputTokens: 1 }, isPartial: true },
      { type: 'usage', usage: USAGE },
    ]);
  });

  it('skips preludes, comments, other fields and empty finish reasons', () => {
    const prelude = chunk({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] });
    const annotated = chunk({ choices: [{ index: 0, content_filter_offsets: {} }] });
    const events = decode(
      ': ping\n\n',
      prelude,
      `event: message\nid: 1\n${delta({ content: 'a' }, '')}`,
      finish(),
      annotated,
      'event: done\n\n',
    );
    expect(events).toEqual([
      START,
      { type: 'text', choice: 0, text: 'a' },
      { type: 'finish', choice: 0, reason: 'stop' },
    ]);
  });

  it('is complete after a finish reason, with or without [DONE] and the last blank line', () => {
    expect(decode(delta({ content: 'a' }), finish())).toHaveLength(3);
    expect(decode(delta({ content: 'a' }), finish().trimEnd())).toHaveLength(3);
    expect(decode(delta({ content: 'a' }), finish(), 'data: {"torn')).toHaveLength(3);
  });

  it('reads nothing after [DONE]', () => {
    const decoder = new ChatStreamDecoder();
    decoder.push(Buffer.from(finish() + DONE + delta({ content: 'late' })));
    expect(decoder.isDone).toBe(true);
    expect(decoder.push(Buffer.from(delta({ content: 'later' })))).toEqual([]);
    expect(decoder.end()).toEqual([]);
  });

  it.each<[string, string[]]>([
    ['nothing at all', []],
    ['text without a finish reason', [delta({ content: 'a' })]],
    ['text and [DONE] without a finish reason', [delta({ content: 'a' }), DONE]],
    ['two choices with one finish reason', [delta({ content: 'a' }), finish(), delta({}, null, 1)]],
    ['a truncated finish', [delta({ content: 'a' }), finish().slice(0, -20)]],
  ])('reports a stream of %s as cut', (_name, pieces) => {
    expect(failureOf(() => decode(...pieces)).failure).toBe('cut');
  });

  it.each<[string, string]>([
    ['truncated JSON', 'data: {"choices":[\n\n'],
    ['an array', 'data: [1]\n\n'],
    ['a choice with an invalid index', delta({ content: 'a' }, null, 1e9)],
    ['a call without a name', delta({ tool_calls: [{ index: 0, id: 'a' }] }, 'tool_calls')],
  ])('rejects %s after the events before it', (_name, bad) => {
    const decoder = new ChatStreamDecoder();
    const events = decoder.push(Buffer.from(delta({ content: 'a' }) + bad));
    expect(events).toContainEqual({ type: 'text', choice: 0, text: 'a' });
    expect(decoder.failure?.failure).toBe('unreadable');
    expect(decoder.push(Buffer.from(finish()))).toEqual([]);
    expect(() => decoder.end()).toThrow(UpstreamError);
  });

  it('rejects an event that never ends', () => {
    const decoder = new ChatStreamDecoder();
    const megabyte = Buffer.alloc(1024 * 1024, 'a');
    for (let count = 0; count < 17; count++) decoder.push(megabyte);
    expect(decoder.failure?.failure).toBe('unreadable');
  });

  it.each<[object, string]>([
    [{ message: 'slow down', code: 'rate_limit_exceeded' }, 'rate_limited'],
    [{ message: 'broken', code: 500 }, 'server'],
    [{ message: 'filtered', code: 'content_filter' }, 'caller'],
  ])('throws the error chunk %j as %s', (error, failure) => {
    expect(failureOf(() => decode(delta({ content: 'a' }), chunk({ error }))).failure).toBe(
      failure,
    );
  });

  it('reads the same events for any chunking, line ending and byte order mark', () => {
    const stream = [delta({ content: 'Grüße 世界 👋' }), finish(), usageChunk(), DONE].join('');
    const expected = decode(stream);
    expect(expected[1]).toEqual({ type: 'text', choice: 0, text: 'Grüße 世界 👋' });
    const bytes = Buffer.from(stream);
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(decode(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(expected);
    }
    expect(decode(...slices(bytes, 1))).toEqual(expected);
    const windows = Buffer.from(stream.replaceAll('\n', '\r\n'));
    expect(decode(...slices(windows, 1))).toEqual(expected);
    expect(decode(Buffer.concat([Buffer.from('\ufeff'), bytes]))).toEqual(expected);
  });
});
