import { describe, expect, it } from '@jest/globals';
import { ChatStreamRelay } from './chat-stream-relay.js';
import {
  WITH_USAGE,
  relay,
  relayText,
  chunk,
  choice,
  text,
  opening,
  stop,
  counted,
  usageChunk,
  sse,
} from '../../../../test/support/chat-streams.js';

describe(`${ChatStreamRelay.name}, at the end`, () => {
  describe('the end', () => {
    const started = sse(opening(), text('Hi'));

    it('is complete after a finish reason without [DONE]', () => {
      const { failure, isDone, finishReason } = relayText(started + sse(stop()));
      expect({ failure, isDone, finishReason }).toEqual({
        failure: undefined,
        isDone: false,
        finishReason: 'stop',
      });
    });

    it.each([
      ['of the stream', started],
      ['with [DONE]', started + sse('[DONE]')],
      ['in the middle of an event', started + sse(stop()).slice(0, -20)],
      ['before anything', ''],
      ['with [DONE] alone', sse('[DONE]')],
      ['after a comment', ': hello\n\n'],
      ['with usage only', started + sse(usageChunk(), '[DONE]')],
      ['with an empty finish reason', started + sse(chunk([choice({}, '')]), '[DONE]')],
    ])('%s without a finish reason is reported as cut', (_, stream) => {
      expect(relayText(stream).failure).toMatchObject({ failure: 'cut' });
    });

    it('of one choice does not end the others', () => {
      const first = chunk([choice({ content: 'a' }), choice({ content: 'b' }, null, 1)]);
      const one = sse(opening(), first, chunk([choice({}, 'stop', 1)]));
      expect(relayText(one).failure).toMatchObject({ failure: 'cut' });
      expect(relayText(one + sse(stop())).failure).toBeUndefined();
    });

    it('considers a choice that began without a role', () => {
      const second = chunk([choice({ content: 'b' }, null, 1)]);
      const stream = sse(opening(), text('a'), second, second, stop(), '[DONE]');
      expect(relayText(stream).failure).toMatchObject({ failure: 'cut' });
    });

    it('ignores what follows [DONE]', () => {
      const { failure, chunks } = relayText(
        started + sse(stop(), '[DONE]', 'junk', text('x')) + 'dat',
      );
      expect(failure).toBeUndefined();
      expect(chunks).toHaveLength(3);
    });

    it('accepts [DONE] with white space around it', () => {
      expect(relayText(started + sse(stop(), ' [DONE] ')).isDone).toBe(true);
    });

    it('drops a truncated event after a complete answer', () => {
      const { failure, chunks } = relayText(`${started}${sse(stop())}data: [DO`);
      expect(failure).toBeUndefined();
      expect(chunks).toHaveLength(3);
    });

    it('never relays half an event', () => {
      const whole = sse(opening(), text('Hi'), text('there'));
      for (let length = 1; length < 120; length++) {
        const { chunks, failure } = relayText(whole.slice(0, -length));
        expect(failure).toMatchObject({ failure: 'cut' });
        expect(chunks.length).toBeLessThanOrEqual(3);
      }
    });

    it('counts the last event once when its blank line is missing', () => {
      const stream = sse(opening(), text('Hi'), usageChunk()) + sse(stop()).trimEnd();
      const { characters, finishReason, usages, chunks } = relayText(stream, WITH_USAGE);
      expect({ characters, finishReason, usages }).toEqual({
        characters: 2,
        finishReason: 'stop',
        usages: [counted],
      });
      expect(chunks).toHaveLength(4);
    });

    it('does not repeat the last event in the usage chunk', () => {
      const relay = new ChatStreamRelay(WITH_USAGE);
      relay.push(Buffer.from(sse(opening(), usageChunk())));
      const stopText = chunk([choice({ content: 'abc' }, 'stop')]);
      const events = [
        ...relay.push(Buffer.from(`data: ${JSON.stringify(stopText)}`)),
        ...relay.end(),
      ];
      expect(events).toMatchObject([
        { type: 'relay', hasContent: true, outputCharacters: 3, finishReason: 'stop' },
        { type: 'relay', hasContent: false, outputCharacters: 0, usage: counted },
      ]);
      expect(events[1]).not.toHaveProperty('finishReason');
    });
  });

  describe('failures', () => {
    it('include an invalid choice index', () => {
      const odd = { index: 'x', delta: { content: 'a' }, finish_reason: null };
      const { failure } = relayText(sse(opening(), { choices: [odd] }));
      expect(failure).toMatchObject({ failure: 'unreadable' });
    });

    it('follow the events before them', () => {
      const { chunks, failure } = relayText(
        sse(opening(), text('Hi'), { error: { message: 'overloaded', code: 503 } }, text('!')),
      );
      expect(chunks).toHaveLength(2);
      expect(failure).toMatchObject({ failure: 'server', status: 503, message: 'overloaded' });
    });

    it.each<[unknown, object]>([
      [
        { message: 'slow down', code: 429 },
        { failure: 'rate_limited', status: 429 },
      ],
      [{ message: 'slow down', code: 'rate_limit_exceeded' }, { failure: 'rate_limited' }],
      [
        { message: 'x', type: 'server_error', code: null },
        { failure: 'server', status: 500 },
      ],
      [{ message: 'x', code: 'insufficient_quota' }, { failure: 'operator' }],
      ['out of memory', { failure: 'server', message: 'out of memory' }],
      [{}, { failure: 'server' }],
    ])('of error %j are classified', (error, expected) => {
      expect(relayText(sse(opening(), { error })).failure).toMatchObject(expected);
      expect(relayText(sse({ ...text('x'), error })).failure).toMatchObject(expected);
      expect(relayText(sse(opening(), { ...text('x'), error })).failure).toMatchObject(expected);
    });

    it('do not include a null error', () => {
      const stream = sse(opening({ error: null }), text('Hi', { error: null }), stop());
      expect(relayText(stream)).toMatchObject({ failure: undefined, characters: 2 });
    });

    it.each(['oops', '{"choices":[', '[]', 'null', '1', '"x"'])(
      'report %s in place of a chunk',
      (data) => {
        const { failure } = relayText(sse(opening(), data));
        expect(failure).toMatchObject({ failure: 'unreadable' });
        expect(failure?.message).not.toContain(data);
      },
    );

    it('report an event that never ends', () => {
      const piece = Buffer.alloc(1024 * 1024, 'x');
      const { failure } = relay([Buffer.from('data: '), ...Array<Buffer>(17).fill(piece)]);
      expect(failure).toMatchObject({ failure: 'unreadable' });
    });
  });
});
