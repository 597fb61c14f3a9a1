import { describe, expect, it } from '@jest/globals';
import {
  MESSAGE_STOP,
  PING,
  blockDelta,
  blockStart,
  blockStop,
  errorEvent,
  messageEnd,
  messageStart,
  messagesEvent,
  textBlock,
  toolBlock,
} from '../../../../test/support/messages-stream.js';
import { cutWithinCharacters, slices } from '../../../../test/support/vendor-stream.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import type { UpstreamError } from '../../upstream-error.js';
import { MessagesStreamDecoder } from './messages-stream-decoder.js';

function decode(
  pieces: readonly (string | Buffer)[],
  jsonTool?: string,
): { events: CanonicalEvent[]; failure: UpstreamError | undefined } {
  const decoder = new MessagesStreamDecoder({ signatureIssuer: 'maker', jsonTool });
  const events: CanonicalEvent[] = [];
  try {
    for (const piece of pieces) {
      for (const event of decoder.push(Buffer.from(piece))) append(events, event);
      if (decoder.isDone || decoder.failure) break;
    }
    for (const event of decoder.end()) append(events, event);
    return { events, failure: undefined };
  } catch (error) {
    return { events, failure: error as UpstreamError };
  }
}

/** Appends an event, merging pieces of text and partial counts. */
function append(events: CanonicalEvent[], event: CanonicalEvent): void {
  if (event.type === 'usage' && event.isPartial) return;
  const last = events.at(-1);
  if (last?.type === 'text' && event.type === 'text') last.text += event.text;
  else events.push(event);
}

const START = { type: 'start', id: 'msg_1' };
const USAGE = { type: 'usage', usage: { ...NO_USAGE, inputTokens: 10, outputTokens: 5 } };
const text = (value: string) => ({ type: 'text', choice: 0, text: value });
const finish = (reason: string, fields: object = {}) => ({
  type: 'finish',
  choice: 0,
  reason,
  ...fields,
});

/** Returns the events of an answer with these blocks, without its start and usage. */
function eventsOf(blocks: string, end = messageEnd(), jsonTool?: string): CanonicalEvent[] {
  const { events, failure } = decode([messageStart() + blocks + end + MESSAGE_STOP], jsonTool);
  expect(failure).toBeUndefined();
  return events.filter(({ type }) => type !== 'start' && type !== 'usage');
}

describe(MessagesStreamDecoder.name, () => {
  const stream =
    messageStart() + PING + textBlock(0, 'Größe', ' 日本 🙂') + messageEnd() + MESSAGE_STOP;
  const decoded = [START, text('Größe 日本 🙂'), finish('stop'), USAGE];

  it('decodes a stream into events', () => {
    expect(decode([stream]).events).toEqual(decoded);
  });

  it('reports the usage of the stream start at once', () => {
    const decoder = new MessagesStreamDecoder({ signatureIssuer: 'maker', jsonTool: undefined });
    const started = decoder.push(Buffer.from(messageStart({ input_tokens: 50_000 })));
    const usage = { ...NO_USAGE, inputTokens: 50_000 };
    expect(started).toEqual([START, { type: 'usage', usage, isPartial: true }]);
  });

  it.each([1, 3, 50])('reads the same in pieces of %d bytes', (size) => {
    expect(decode(slices(Buffer.from(stream), size)).events).toEqual(decoded);
  });

  it('reads the same when split within characters, and with carriage returns', () => {
    expect(decode(cutWithinCharacters(Buffer.from(stream))).events).toEqual(decoded);
    const windows = Buffer.from(`\ufeff${stream.replaceAll('\n', '\r\n')}`);
    expect(decode([windows]).events).toEqual(decoded);
    expect(decode(slices(windows, 1)).events).toEqual(decoded);
  });

  it('reads an event right after a byte order mark', () => {
    const bare = `\ufeff${stream.replaceAll(/^event: .*\n/gm, '')}`;
    expect(bare).toMatch(/^\ufeffdata: \{"type":"message_start"/);
    expect(decode([bare]).events).toEqual(decoded);
    expect(decode(slices(Buffer.from(bare), 1)).events).toEqual(decoded);
  });

  it('merges pieces of one read and keeps those of several reads separate', () => {
    const decoder = new MessagesStreamDecoder({ signatureIssuer: 'maker', jsonTool: undefined });
    const push = (stream: string) => decoder.push(Buffer.from(stream));
    const piece = (value: string) => blockDelta(0, { type: 'text_delta', text: value });
    push(messageStart());
    expect(push(piece('a') + piece('b') + PING + piece('c'))).toEqual([text('abc')]);
    expect(push(piece('d'))).toEqual([text('d')]);
    const thought = blockDelta(1, { type: 'thinking_delta', thinking: 'e' });
    expect(push(thought + thought + piece('f')).map(({ type }) => type)).toEqual([
      'reasoning',
      'text',
    ]);
  });

  it('skips unknown events and empty pieces', () => {
    expect(
      eventsOf(
        messagesEvent('progress', { note: 'x' }) +
          ': comment\n\n' +
          textBlock(0, '', 'a') +
          blockDelta(0, { type: 'citations_delta', citation: {} }) +
          blockDelta(7, { type: 'input_json_delta', partial_json: '{"lost":1}' }) +
          blockStart(1, { type: 'server_tool_use', id: 'x', name: 'web_search', input: {} }) +
          blockDelta(1, { type: 'input_json_delta', partial_json: '{}' }) +
          blockStop(1) +
          blockStart(2, { type: 'web_search_tool_result', content: [] }) +
          blockStop(2) +
          blockStop(9) +
          messagesEvent('content_block_start', { index: 3 }) +
          messagesEvent('content_block_delta', { index: 3 }),
      ),
    ).toEqual([text('a'), finish('stop')]);
  });

  it('reads text in a block start', () => {
    expect(eventsOf(blockStart(0, { type: 'text', text: 'a' }) + blockStop(0))[0]).toEqual(
      text('a'),
    );
  });

  it.each(['plain', '', 'Größe 日本 🙂', 'a"b', 'a\\b\n\u0007', '\u2028', '\ud83d'])(
    'reads the piece %j in the usual formatting and any other',
    (piece) => {
      const streamOf = (delta: typeof blockDelta): string =>
        blockStart(0, { type: 'thinking', thinking: '' }) +
        delta(0, { type: 'thinking_delta', thinking: piece }) +
        delta(0, { type: 'thinking_delta', thinking: 'z' }) +
        blockStart(1, { type: 'text', text: '' }) +
        delta(1, { type: 'text_delta', text: piece }) +
        delta(1, { type: 'text_delta', text: 'z' }) +
        blockStart(10, { type: 'tool_use', id: 'a', name: 'b', input: {} }) +
        delta(10, { type: 'input_json_delta', partial_json: piece }) +
        delta(10, { type: 'input_json_delta', partial_json: 'z' });
      const otherDelta: typeof blockDelta = (index, delta) =>
        messagesEvent('content_block_delta', { delta, index });
      const events = eventsOf(streamOf(blockDelta));
      expect(events).toEqual(eventsOf(streamOf(otherDelta)));
      expect(events).toMatchObject([
        { type: 'reasoning', text: `${piece}z` },
        text(`${piece}z`),
        { type: 'tool_call' },
        { type: 'tool_arguments', text: `${piece}z` },
        finish('stop'),
      ]);
    },
  );

  it('rejects an unescaped control character', () => {
    const event = blockDelta(0, { type: 'text_delta', text: 'a-b' }).replace('-', '\t');
    const { events, failure } = decode([messageStart() + event]);
    expect(events).toEqual([START]);
    expect(failure?.failure).toBe('unreadable');
  });

  it('reads parallel calls and numbers them', () => {
    const events = eventsOf(
      textBlock(0, 'a') +
        toolBlock(1, 'toolu_1', 'look', '', '{"a"', ':1}') +
        toolBlock(2, 'toolu_2', 'stay'),
      messageEnd('tool_use'),
    );
    const args = (index: number, value: string) => ({
      type: 'tool_arguments',
      choice: 0,
      index,
      text: value,
    });
    expect(events).toEqual([
      text('a'),
      { type: 'tool_call', choice: 0, index: 0, id: 'toolu_1', name: 'look' },
      args(0, '{"a":1}'),
      { type: 'tool_call', choice: 0, index: 1, id: 'toolu_2', name: 'stay' },
      args(1, '{}'),
      finish('tool_calls'),
    ]);
  });

  it('accepts arguments in one piece, and those of an unterminated call', () => {
    const whole = blockStart(0, { type: 'tool_use', id: 'a', name: 'b', input: { c: 1 } });
    for (const blocks of [whole + blockStop(0), whole]) {
      expect(eventsOf(blocks, messageEnd('tool_use'))[1]).toMatchObject({ text: '{"c":1}' });
    }
  });

  it('gives calls with the same id distinct ids', () => {
    const calls = ['a', 'a', ''].map((id, index) => toolBlock(index, id, 'f')).join('');
    const ids = eventsOf(calls, messageEnd('tool_use')).flatMap((event) =>
      event.type === 'tool_call' ? [event.id] : [],
    );
    expect(ids[0]).toBe('a');
    expect(new Set([...ids, '']).size).toBe(4);
  });

  it('reads only the usage after the end', () => {
    const late = textBlock(1, 'Late') + toolBlock(2, 'a', 'f');
    expect(eventsOf(textBlock(0, 'Hi'), messageEnd() + late + messageEnd('max_tokens'))).toEqual([
      text('Hi'),
      finish('stop'),
    ]);
  });

  it.each<[string, string | undefined, string]>([
    [
      'a signature',
      undefined,
      blockDelta(1, { type: 'signature_delta', signature: 'x'.repeat(3_000_000) }),
    ],
    ['text next to its JSON', 'json', textBlock(2, 'x'.repeat(3_000_000))],
  ])('gives up on endless %s, whatever comes in between', (_, jsonTool, piece) => {
    const thoughts = blockStart(1, { type: 'thinking', thinking: 'a' });
    const said = blockDelta(1, { type: 'thinking_delta', thinking: 'b' });
    const stream = messageStart() + thoughts + (said + piece).repeat(6);
    expect(decode([stream], jsonTool).failure).toMatchObject({ failure: 'unreadable' });
  });

  it('passes arguments on as the model wrote them, even invalid JSON', () => {
    const events = eventsOf(toolBlock(0, 'a', 'b', '{"c":', 'oops'), messageEnd('max_tokens'));
    expect(events.slice(1)).toMatchObject([{ text: '{"c":oops' }, finish('length')]);
  });

  it('names the maker of reasoning signatures', () => {
    const reasoning = (value: string, signature?: string) => ({
      type: 'reasoning',
      choice: 0,
      text: value,
      ...(signature !== undefined && { signature }),
    });
    expect(
      eventsOf(
        blockStart(0, { type: 'thinking', thinking: '', signature: '' }) +
          blockDelta(0, { type: 'thinking_delta', thinking: 'h' }) +
          blockDelta(0, { type: 'thinking_delta', thinking: 'm' }) +
          blockDelta(0, { type: 'signature_delta', signature: 'c2' }) +
          blockDelta(0, { type: 'signature_delta', signature: 'ln' }) +
          blockStop(0) +
          blockStart(1, { type: 'redacted_thinking', data: 'ZGF0YQ==' }) +
          blockStop(1) +
          blockStart(2, { type: 'thinking', thinking: '' }) +
          blockDelta(2, { type: 'thinking_delta', thinking: 'unsigned' }) +
          blockStop(2),
      ),
    ).toEqual([
      reasoning('hm'),
      reasoning('', 'maker:c2ln'),
      reasoning('', 'maker:redacted:ZGF0YQ=='),
      reasoning('unsigned'),
      finish('stop'),
    ]);
  });

  it.each<[string, string, object]>([
    ['end_turn', 'stop', {}],
    ['max_tokens', 'length', {}],
    ['model_context_window_exceeded', 'length', {}],
    ['refusal', 'content_filter', {}],
    ['pause_turn', 'pause_turn', {}],
  ])('maps the stop reason %s to %s', (reason, expected, fields) => {
    expect(eventsOf('', messageEnd(reason))).toEqual([finish(expected, fields)]);
  });

  it('reports the stop sequence', () => {
    expect(eventsOf('', messageEnd('stop_sequence', {}, 'END'))).toEqual([
      finish('stop', { stopSequence: 'END' }),
    ]);
  });

  describe('with a tool for JSON', () => {
    it('turns its arguments into text and its call into a normal end', () => {
      expect(
        eventsOf(toolBlock(0, 'a', 'json', '{"b"', ':1}'), messageEnd('tool_use'), 'json'),
      ).toEqual([text('{"b":1}'), finish('stop')]);
      expect(eventsOf(toolBlock(0, 'a', 'json'), messageEnd('tool_use'), 'json')).toEqual([
        text('{}'),
        finish('stop'),
      ]);
    });

    it('drops text next to the call, and returns it when the tool is not called', () => {
      const prose = textBlock(0, 'Here', ' it is:');
      const call = toolBlock(1, 'a', 'json', '{"b":1}') + textBlock(2, 'Done.');
      const again = toolBlock(3, 'c', 'json', '{"d":2}');
      expect(eventsOf(prose + call + again, messageEnd('tool_use'), 'json')).toEqual([
        text('{"b":1}'),
        finish('stop'),
      ]);
      expect(eventsOf(prose, messageEnd(), 'json')).toEqual([text('Here it is:'), finish('stop')]);
    });

    it('keeps calls of other tools, and the reason for a truncated answer', () => {
      expect(
        eventsOf(toolBlock(0, 'a', 'look', '{}'), messageEnd('tool_use'), 'json').at(-1),
      ).toEqual(finish('tool_calls'));
      expect(
        eventsOf(toolBlock(0, 'a', 'json', '{"b'), messageEnd('max_tokens'), 'json').at(-1),
      ).toEqual(finish('length'));
    });
  });

  describe('failures', () => {
    it('of the vendor follow the events before them', () => {
      const { events, failure } = decode([
        messageStart() + textBlock(0, 'a') + errorEvent('overloaded_error', 'Overloaded'),
      ]);
      expect(events).toEqual([START, text('a')]);
      expect(failure).toMatchObject({ failure: 'server', status: 529 });
    });

    it('before content leave only the start event', () => {
      const { events, failure } = decode([messageStart(), errorEvent('api_error', 'Oh')]);
      expect(events).toEqual([START]);
      expect(failure).toMatchObject({ failure: 'server', status: 500 });
    });

    it.each(['data: {"type":\n\n', 'data: null\n\n', 'event: x\ndata: "x"\n\n'])(
      '%j is unreadable',
      (event) => {
        const { events, failure } = decode([messageStart() + textBlock(0, 'a') + event]);
        expect(events).toEqual([START, text('a')]);
        expect(failure?.failure).toBe('unreadable');
      },
    );

    it.each([
      ['in the middle', messageStart() + textBlock(0, 'a')],
      ['in the middle of an event', messageStart() + messageEnd().slice(0, -20)],
      ['with nothing', ''],
      ['with its last word only', messageStart() + MESSAGE_STOP],
    ])('reports a stream that stops %s as cut', (_, stream) => {
      expect(decode([stream]).failure?.failure).toBe('cut');
    });

    it('do not include a stream that ends after its stop reason', () => {
      expect(decode([messageStart() + messageEnd()]).failure).toBeUndefined();
      expect(decode([messageStart() + messageEnd().trimEnd()]).events).toEqual([
        START,
        finish('stop'),
        USAGE,
      ]);
    });
  });

  it('accepts an event of 10 MB but none beyond 16 MB', () => {
    const big = Buffer.from(messageStart() + textBlock(0, 'x'.repeat(10_000_000)) + messageEnd());
    const { events, failure } = decode(slices(big, 65_536));
    expect(failure).toBeUndefined();
    expect(events[1]?.type === 'text' && events[1].text.length).toBe(10_000_000);
    const endless = decode(slices(Buffer.alloc(17_000_000, 'x'), 1_000_000));
    expect(endless.failure?.failure).toBe('unreadable');
  });
});
