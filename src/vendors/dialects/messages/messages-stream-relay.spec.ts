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
import { SeededRandom } from '../../../../test/support/seeded-random.js';
import { cutWithinCharacters, slices } from '../../../../test/support/vendor-stream.js';
import type { CanonicalEvent, RelayEvent } from '../../../canonical/canonical-event.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import type { UpstreamError } from '../../upstream-error.js';
import { MessagesStreamRelay } from './messages-stream-relay.js';

const ALIAS = 'anthropic/claude-"x"';

interface Relayed {
  bytes: string;
  relays: RelayEvent[];
  characters: number;
  usages: unknown[];
  finishReason: string | undefined;
  started: (string | undefined)[];
  failure: UpstreamError | undefined;
  isDone: boolean;
}

/** Returns what a caller and the ledger see of a stream, regardless of its chunking. */
function relay(...pieces: (string | Buffer)[]): Relayed {
  const relay = new MessagesStreamRelay(ALIAS);
  const events: CanonicalEvent[] = [];
  let failure: UpstreamError | undefined;
  try {
    for (const piece of pieces) {
      events.push(...relay.push(Buffer.from(piece)));
      if (relay.isDone || relay.failure) break;
    }
    events.push(...relay.end());
  } catch (error) {
    failure = error as UpstreamError;
  }
  const relays = events.filter((event) => event.type === 'relay');
  return {
    bytes: Buffer.concat(relays.map(({ bytes }) => bytes)).toString(),
    relays,
    characters: relays.reduce((sum, event) => sum + event.outputCharacters, 0),
    usages: relays.flatMap(({ usage }) => (usage ? [usage] : [])),
    finishReason: relays.find((event) => event.finishReason !== undefined)?.finishReason,
    started: events.flatMap((event) => (event.type === 'start' ? [event.id] : [])),
    failure,
    isDone: relay.isDone,
  };
}

const asSent = (stream: string) =>
  stream.replace('"model":"claude-x-20260101"', `"model":${JSON.stringify(ALIAS)}`);

const BODY =
  blockStart(0, { type: 'thinking', thinking: '', signature: '' }) +
  blockDelta(0, { type: 'thinking_delta', thinking: 'Größe? ' }) +
  blockDelta(0, { type: 'signature_delta', signature: 'c2ln' }) +
  blockStop(0) +
  textBlock(1, 'Hello', ' "日本" 🙂 \\ \n', 'data: x\n\nevent: y') +
  toolBlock(2, 'toolu_1', 'look', '', '{"a":', '"🙂"}');
const STREAM = messageStart() + BODY + messageEnd('tool_use', { output_tokens: 50 }) + MESSAGE_STOP;
const PASSED = asSent(STREAM).replace(MESSAGE_STOP, '');
/** Code points of all output in STREAM. */
const CHARACTERS =
  [...'Größe? Hello "日本" 🙂 \\ \ndata: x\n\nevent: y'].length + [...'look{"a":"🙂"}'].length;

describe(MessagesStreamRelay.name, () => {
  it('relays everything except the model name and the last event', () => {
    const { bytes, characters, usages, finishReason, started, failure, isDone } = relay(STREAM);
    expect(failure).toBeUndefined();
    expect(bytes).toBe(PASSED);
    expect(bytes).not.toContain('message_stop');
    expect(characters).toBe(CHARACTERS);
    expect(usages).toMatchObject([{ inputTokens: 10, outputTokens: 50 }]);
    expect(finishReason).toBe('tool_calls');
    expect(started).toEqual(['msg_1']);
    expect(isDone).toBe(true);
  });

  it.each([1, 2, 3, 7, 100])('reads the same in pieces of %d bytes', (size) => {
    const { bytes, characters, usages } = relay(...slices(Buffer.from(STREAM), size));
    expect(bytes).toBe(PASSED);
    expect(characters).toBe(CHARACTERS);
    expect(usages).toHaveLength(1);
  });

  it('reads the same when split within characters, and anywhere', () => {
    expect(relay(...cutWithinCharacters(Buffer.from(STREAM))).bytes).toBe(PASSED);
    const random = new SeededRandom(11);
    for (let round = 0; round < 50; round++) {
      const pieces: Buffer[] = [];
      const whole = Buffer.from(STREAM);
      for (let start = 0; start < whole.length;) {
        const end = start + 1 + random.below(60);
        pieces.push(whole.subarray(start, end));
        start = end;
      }
      expect(relay(...pieces)).toMatchObject({ bytes: PASSED, characters: CHARACTERS });
    }
  });

  it('relays a chunk that needs no edit without copying it', () => {
    const relay = new MessagesStreamRelay(ALIAS);
    relay.push(Buffer.from(messageStart()));
    const chunk = Buffer.from(BODY);
    const [event] = relay.push(chunk);
    expect(event?.type === 'relay' && event.bytes).toBe(chunk);
  });

  it('accepts carriage returns and a byte order mark', () => {
    const windows = `\ufeff${STREAM.replaceAll('\n', '\r\n')}`;
    expect(relay(windows)).toMatchObject({ bytes: PASSED, characters: CHARACTERS });
    expect(relay(...slices(Buffer.from(windows), 1)).bytes).toBe(PASSED);
  });

  it('drops pings and comments, and keeps unknown events', () => {
    const unknown = messagesEvent('progress', { note: 'x' });
    const { bytes, failure } = relay(
      messageStart() + PING + ': hello\n\n' + unknown,
      PING + textBlock(0, 'a') + '\n\n' + messageEnd() + MESSAGE_STOP,
    );
    expect(failure).toBeUndefined();
    expect(bytes).toBe(asSent(messageStart()) + unknown + textBlock(0, 'a') + messageEnd());
  });

  it('reads events however the vendor spaces them', () => {
    const spaced = blockDelta(0, { type: 'text_delta', text: 'Hi' }).replace('"}}', '"}   }  ');
    const loose = `event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yo"}}\n\n`;
    const other = `event: content_block_delta\ndata:{"index":0,"delta":{"text":"Ha","type":"text_delta"},"type":"content_block_delta"}\n\n`;
    const { bytes, characters } = relay(
      messageStart() + spaced + loose + other + messageEnd() + MESSAGE_STOP,
    );
    expect(bytes).toBe(asSent(messageStart()) + spaced + loose + other + messageEnd());
    expect(characters).toBe(6);
  });

  it('adds missing event names', () => {
    const nameless = STREAM.replaceAll(/event: .*\n(?=data)/g, '');
    expect(relay(nameless).bytes).toBe(PASSED);
  });

  it('joins data on several lines', () => {
    const start = messageStart().replace('"message":{', '"message":\ndata: {');
    const { bytes } = relay(start + messageEnd() + MESSAGE_STOP);
    expect(bytes.split('\n\n')[0]).toMatch(/^event: message_start\ndata: [^\n]*$/);
    expect(bytes).toContain(JSON.stringify(ALIAS));
  });

  describe('content', () => {
    const content = (event: string) => relay(messageStart(), event, messageEnd()).relays[1];

    it.each([
      ['a text', blockDelta(0, { type: 'text_delta', text: 'a' }), true],
      ['an empty text', blockDelta(0, { type: 'text_delta', text: '' }), false],
      ['reasoning', blockDelta(0, { type: 'thinking_delta', thinking: 'a' }), true],
      ['a signature', blockDelta(0, { type: 'signature_delta', signature: 'a' }), true],
      [
        'a piece of arguments',
        blockDelta(0, { type: 'input_json_delta', partial_json: '{' }),
        true,
      ],
      ['a call', blockStart(0, { type: 'tool_use', id: 'a', name: 'b', input: {} }), true],
      ['redacted reasoning', blockStart(0, { type: 'redacted_thinking', data: 'a' }), true],
      ["the vendor's own tool", blockStart(0, { type: 'server_tool_use', name: 'a' }), true],
      ['a block of text', blockStart(0, { type: 'text', text: '' }), false],
      ['a reasoning block', blockStart(0, { type: 'thinking', thinking: '' }), false],
      ['the end of a block', blockStop(0), false],
      ['a citation', blockDelta(0, { type: 'citations_delta', citation: {} }), false],
      ['something unknown', blockDelta(0, { type: 'song_delta', song: 'la' }), false],
      ['the end', messageEnd('refusal'), true],
    ])('%s: %#', (_, event, hasContent) => {
      expect(content(event)?.hasContent).toBe(hasContent);
    });

    it('does not include the stream start', () => {
      expect(relay(messageStart(), messageEnd()).relays[0]?.hasContent).toBe(false);
    });

    it('counts a call in one piece', () => {
      const event = blockStart(0, { type: 'tool_use', id: 'a', name: 'look', input: { a: 1 } });
      expect(content(event)?.outputCharacters).toBe('look{"a":1}'.length);
    });
  });

  describe('usage', () => {
    it('combines the start and the ends, the last figure of each', () => {
      const { usages } = relay(
        messageStart({
          input_tokens: 3,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 50,
          cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 20 },
          output_tokens: 1,
        }),
        messageEnd(null, { output_tokens: 4 }),
        messageEnd('end_turn', {
          input_tokens: 5,
          cache_read_input_tokens: null,
          output_tokens: 9,
          output_tokens_details: { thinking_tokens: 2 },
          server_tool_use: { web_search_requests: 3 },
        }),
      );
      expect(usages.at(-1)).toEqual({
        ...NO_USAGE,
        inputTokens: 155,
        outputTokens: 9,
        cacheReadTokens: 100,
        cacheWriteTokens: 50,
        cacheWriteLongTokens: 20,
        reasoningTokens: 2,
        webSearches: 3,
      });
    });

    it("counts searches as they begin, and uses the vendor's count in the end", () => {
      const search = (index: number): string =>
        blockStart(index, { type: 'server_tool_use', id: 'x', name: 'web_search', input: {} });
      const stream = new MessagesStreamRelay('a/b');
      const started = [messageStart({ input_tokens: 3, output_tokens: 1 }), search(0), search(1)];
      const partial = stream
        .push(Buffer.from(started.join('')))
        .flatMap((event) => (event.type === 'usage' ? [event] : []));
      expect(partial.map(({ usage, isPartial }) => [usage.webSearches, isPartial])).toEqual([
        [0, true],
        [1, true],
        [2, true],
      ]);
      const counted = { output_tokens: 9, server_tool_use: { web_search_requests: 1 } };
      const [last] = stream.push(Buffer.from(messageEnd('end_turn', counted)));
      expect(last).toMatchObject({ type: 'relay', usage: { webSearches: 1, inputTokens: 3 } });
    });

    it('is not derived from the start alone', () => {
      expect(relay(messageStart(), textBlock(0, 'a'), messageEnd('end_turn', {})).usages).toEqual(
        [],
      );
    });
  });

  describe('failures', () => {
    it('of the vendor follow the events before them and are not relayed', () => {
      const { bytes, failure } = relay(
        messageStart() + textBlock(0, 'a') + errorEvent('overloaded_error', 'Overloaded'),
      );
      expect(bytes).toBe(asSent(messageStart()) + textBlock(0, 'a'));
      expect(failure).toMatchObject({ failure: 'server', status: 529, message: 'Overloaded' });
    });

    it('before content leave no content', () => {
      const { relays, failure } = relay(
        messageStart() + PING,
        errorEvent('rate_limit_error', 'slow down'),
      );
      expect(relays.some(({ hasContent }) => hasContent)).toBe(false);
      expect(failure).toMatchObject({ failure: 'rate_limited', status: 429 });
    });

    it.each<[string, string]>([
      ['truncated JSON', 'event: content_block_start\ndata: {"type":"content_bl\n\n'],
      ['an array', 'data: [1]\n\n'],
      [
        'JSON with an invalid string',
        blockDelta(0, { type: 'text_delta', text: 'a' }).slice(0, -4) + '\n\n',
      ],
    ])('%s is unreadable', (_, event) => {
      const { failure, bytes } = relay(messageStart(), textBlock(0, 'a'), event);
      expect(failure?.failure).toBe('unreadable');
      expect(bytes).toBe(asSent(messageStart()) + textBlock(0, 'a'));
    });

    it.each([
      ['in the middle', messageStart() + textBlock(0, 'a')],
      ['in the middle of an event', messageStart() + messageEnd().slice(0, -20)],
      ['with nothing', ''],
      ['after an end without a reason', messageStart() + messageEnd(null)],
      ['with its last word only', messageStart() + MESSAGE_STOP],
    ])('reports a stream that stops %s as cut', (_, stream) => {
      expect(relay(stream).failure?.failure).toBe('cut');
    });

    it('do not include a stream that ends after its stop reason', () => {
      expect(relay(messageStart() + messageEnd()).failure).toBeUndefined();
      const unterminated = relay(messageStart() + messageEnd().trimEnd());
      expect(unterminated.failure).toBeUndefined();
      expect(unterminated.finishReason).toBe('stop');
      expect(unterminated.bytes.endsWith('\n\n')).toBe(true);
    });
  });

  it('accepts an event of 10 MB but none beyond 16 MB', () => {
    const text = 'x"'.repeat(3_500_000);
    const big = Buffer.from(messageStart() + textBlock(0, text) + messageEnd());
    const startedMs = performance.now();
    const { characters, failure } = relay(...slices(big, 512));
    expect(failure).toBeUndefined();
    expect(characters).toBe(text.length);
    expect(performance.now() - startedMs).toBeLessThan(10_000);

    const endless = relay(messageStart(), ...slices(Buffer.alloc(17_000_000, 'x'), 1_000_000));
    expect(endless.failure?.failure).toBe('unreadable');
  });
});
