import { describe, expect, it } from '@jest/globals';
import { cutWithinCharacters, slices } from '../../../../test/support/vendor-stream.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { GenerateContentStreamDecoder } from './generate-content-stream-decoder.js';

const sse = (value: unknown): string =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const chunk = (parts: object[], rest: object = {}, answer: object = {}): string =>
  sse({ candidates: [{ content: { role: 'model', parts }, ...rest }], responseId: 'r', ...answer });
const finish = (finishReason = 'STOP', answer: object = {}): string =>
  chunk([{ text: '' }], { finishReason }, answer);

/** Returns all events of a stream in these pieces. */
function run(...pieces: (string | Buffer)[]): CanonicalEvent[] {
  const decoder = new GenerateContentStreamDecoder();
  const events = pieces.flatMap((piece) => decoder.push(Buffer.from(piece)));
  return [...events, ...decoder.end()];
}

function textOf(events: CanonicalEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

const usage = (candidatesTokenCount?: number): object => ({
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount },
});

describe(GenerateContentStreamDecoder.name, () => {
  it('emits each piece as it arrives, and the finish at the end', () => {
    const decoder = new GenerateContentStreamDecoder();
    expect(decoder.push(Buffer.from(chunk([{ text: 'Hel' }], {}, usage())))).toEqual([
      { type: 'start', id: 'r' },
      { type: 'text', choice: 0, text: 'Hel' },
    ]);
    expect(decoder.push(Buffer.from(chunk([{ text: 'lo' }], {}, usage(2))))).toEqual([
      { type: 'text', choice: 0, text: 'lo' },
      {
        type: 'usage',
        usage: expect.objectContaining({ inputTokens: 7, outputTokens: 2 }) as unknown,
      },
    ]);
    expect(decoder.push(Buffer.from(finish('STOP', usage(2))))).toEqual([]);
    expect(decoder.end()).toEqual([
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'usage', usage: expect.objectContaining({ outputTokens: 2 }) as unknown },
    ]);
  });

  it('reads the last usage at any position', () => {
    const usages = run(
      chunk([{ text: 'a' }], {}, usage(1)),
      finish('STOP', usage(5)),
      sse({
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 6, thoughtsTokenCount: 3 },
      }),
    ).filter((event) => event.type === 'usage');
    expect(usages.map((event) => event.usage.outputTokens)).toEqual([1, 5, 9]);
  });

  it('reports the last prompt count even when the output did not change', () => {
    const events = run(
      chunk([{ text: 'a' }], {}, usage(1)),
      finish('STOP', { usageMetadata: { promptTokenCount: 70, candidatesTokenCount: 1 } }),
    );
    expect(events.at(-1)).toMatchObject({ type: 'usage', usage: { inputTokens: 70 } });
  });

  it('reports no usage for a prompt before there is output', () => {
    const decoder = new GenerateContentStreamDecoder();
    const events = decoder.push(Buffer.from(chunk([{ text: 'a' }], {}, usage(0))));
    expect(events.map((event) => event.type)).toEqual(['start', 'text']);
  });

  it('counts calls across pieces and ends with tool_calls, even after an early STOP', () => {
    const call = (name: string): object => ({ functionCall: { name, args: {} } });
    const events = run(
      chunk([{ text: 'So' }], { finishReason: 'STOP' }),
      chunk([call('f'), call('g')]),
      chunk([call('h')], { finishReason: 'STOP' }),
    );
    const calls = events.filter((event) => event.type === 'tool_call');
    expect(calls.map(({ index, name }) => [index, name])).toEqual([
      [0, 'f'],
      [1, 'g'],
      [2, 'h'],
    ]);
    expect(events.filter((event) => event.type === 'finish')).toEqual([
      { type: 'finish', choice: 0, reason: 'tool_calls' },
    ]);
  });

  it('keeps several answers separate', () => {
    const events = run(
      chunk([{ text: 'a' }], { index: 0 }),
      chunk([{ text: 'b' }], { index: 1 }),
      chunk([], { index: 1, finishReason: 'MAX_TOKENS' }),
      chunk([{ text: 'A' }], { finishReason: 'STOP' }),
    );
    expect(events.slice(1)).toEqual([
      { type: 'text', choice: 0, text: 'a' },
      { type: 'text', choice: 1, text: 'b' },
      { type: 'text', choice: 0, text: 'A' },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'finish', choice: 1, reason: 'length' },
    ]);
  });

  it('ends a blocked prompt as filtered', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, ...usage() };
    expect(run(sse(blocked)).map((event) => event.type)).toEqual(['start', 'finish', 'usage']);
    const midway = run(chunk([{ text: 'a' }]), sse(blocked));
    expect(midway.find((event) => event.type === 'finish')).toMatchObject({
      reason: 'content_filter',
    });
  });

  describe('reads the same', () => {
    const stream = [
      chunk([{ text: 'größe 日本' }]),
      chunk([{ text: ' 🙂', thoughtSignature: 'AAA' }]),
      finish('STOP', usage(3)),
    ].join('');
    const expected = run(stream);

    it('as sent', () => {
      expect(textOf(expected)).toBe('größe 日本 🙂');
      expect(expected).toHaveLength(6);
    });

    it.each<[string, (string | Buffer)[]]>([
      ['byte by byte', slices(Buffer.from(stream), 1)],
      ['in pieces of seven bytes', slices(Buffer.from(stream), 7)],
      ['split within characters', cutWithinCharacters(Buffer.from(stream))],
      ['with carriage returns', [stream.replaceAll('\n', '\r\n')]],
      [
        'with carriage returns, byte by byte',
        slices(Buffer.from(stream.replaceAll('\n', '\r\n')), 1),
      ],
      ['with a byte order mark', [`\ufeff${stream}`]],
      [
        'with comments and other fields',
        [stream.replaceAll('data:', ': hi\nevent: x\nid: 1\ndata:')],
      ],
      ['without a space after the colon', [stream.replaceAll('data: ', 'data:')]],
      ['with additional blank lines', [stream.replaceAll('\n\n', '\n\n\n\n')]],
      ['split over lines', [stream.replaceAll('"candidates":', '"candidates":\ndata: ')]],
      ['without the last blank line', [stream.slice(0, -2)]],
      ['with an end marker', [stream, 'data: [DONE]\n\n']],
    ])('%s', (_name, pieces) => {
      expect(run(...pieces)).toEqual(expected);
    });
  });

  it('accepts an event of 10 MB', () => {
    const text = 'x'.repeat(10_000_000);
    const pieces = slices(Buffer.from(chunk([{ text }]) + finish()), 512);
    const startedMs = performance.now();
    expect(textOf(run(...pieces))).toHaveLength(text.length);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('gives up on an event without an end', () => {
    const decoder = new GenerateContentStreamDecoder();
    decoder.push(Buffer.alloc(9_000_000, 'x'));
    decoder.push(Buffer.alloc(9_000_000, 'x'));
    expect(decoder.failure).toMatchObject({ failure: 'unreadable' });
    expect(decoder.push(Buffer.from(finish()))).toEqual([]);
    expect(() => decoder.end()).toThrow(expect.objectContaining({ failure: 'unreadable' }));
  });

  describe('an error', () => {
    const error = { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } };

    it.each<[string, string]>([
      ['as an event', sse(error)],
      ['in a list', sse([error])],
      ['as bare JSON', `${JSON.stringify(error, null, 2)}\n\n`],
    ])('%s fails the stream after the events before it', (_name, spelled) => {
      const decoder = new GenerateContentStreamDecoder();
      const events = decoder.push(Buffer.from(chunk([{ text: 'Hi' }]) + spelled + finish()));
      expect(textOf(events)).toBe('Hi');
      expect(decoder.failure).toMatchObject({ failure: 'server', status: 503 });
      expect(() => decoder.end()).toThrow('overloaded');
    });

    it.each([JSON.stringify(error, null, 2), JSON.stringify([error]), sse(error).trimEnd()])(
      'at the very end counts without a blank line: %j',
      (spelled) => {
        expect(() => run(chunk([{ text: 'Hi' }]), spelled)).toThrow('overloaded');
      },
    );
  });

  it.each<[string, string[], string]>([
    ['ends without a reason', [chunk([{ text: 'Hi' }])], 'cut'],
    ['ends with one answer unfinished', [finish(), chunk([{ text: 'b' }], { index: 1 })], 'cut'],
    ['ends within an event', [chunk([{ text: 'Hi' }]), finish().slice(0, 30)], 'cut'],
    ['is empty', [], 'cut'],
    ['has only comments', [': hi\n\n'], 'cut'],
    ['has only usage', [sse(usage(2))], 'cut'],
    ['contains invalid JSON', [sse('{"candidates": ['), finish()], 'unreadable'],
    ['contains a number', [sse('5'), finish()], 'unreadable'],
    ['is text', ['<html>\n\n'], 'cut'],
    ['has a call without a name', [chunk([{ functionCall: {} }]), finish()], 'unreadable'],
  ])('fails when the stream %s', (_name, pieces, failure) => {
    expect(() => run(...pieces)).toThrow(expect.objectContaining({ failure }));
  });
});
