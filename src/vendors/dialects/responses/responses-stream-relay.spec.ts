import { describe, expect, it } from '@jest/globals';
import type { RecordedCall } from '../../../../test/support/fake-openai.js';
import {
  RESPONSES_USAGE,
  streamEvents,
  type FakeResponse,
} from '../../../../test/support/fake-responses.js';
import { SeededRandom } from '../../../../test/support/seeded-random.js';
import type { CanonicalEvent, RelayEvent } from '../../../canonical/canonical-event.js';
import type { UpstreamError } from '../../upstream-error.js';
import { ResponsesStreamRelay } from './responses-stream-relay.js';

type Json = Record<string, unknown>;

const EDITS = {
  id: 'resp_ours',
  model: 'a/b',
  store: true,
  metadata: { k: 'v' },
  previous_response_id: 'resp_before',
};

interface Relayed {
  text: string;
  events: Json[];
  relays: RelayEvent[];
  started: unknown[];
  characters: number;
  failure: UpstreamError | undefined;
}

function relay(pieces: readonly (string | Buffer)[]): Relayed {
  const relay = new ResponsesStreamRelay(EDITS, {});
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
  const text = Buffer.concat(relays.map(({ bytes }) => bytes)).toString('utf8');
  return {
    text,
    events: text
      .split('\n\n')
      .slice(0, -1)
      .map((frame) => JSON.parse(/^data: (.*)$/m.exec(frame)![1]!) as Json),
    relays,
    started: events.filter((event) => event.type === 'start'),
    characters: relays.reduce((sum, { outputCharacters }) => sum + outputCharacters, 0),
    failure,
  };
}

const CALL = { body: { model: 'gpt' } } as unknown as RecordedCall;
const encode = (event: Json): string =>
  `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;
const framesOf = (options?: FakeResponse): string[] => streamEvents(CALL, options).map(encode);
const edited = (response: unknown): Json => ({ ...(response as Json), ...EDITS });

describe(ResponsesStreamRelay.name, () => {
  it('counts billed searches while streaming and at the end', () => {
    const search = { type: 'web_search_call', id: 'ws', action: { type: 'search', query: 'ü' } };
    const open = { ...search, action: { type: 'open_page', url: 'x' } };
    const call = { type: 'function_call', arguments: '"web_search_call"' };
    const done = (item: Json): string => encode({ type: 'response.output_item.done', item });
    const stream = new ResponsesStreamRelay(EDITS, {});
    const usages = (frames: string): unknown[] =>
      stream.push(Buffer.from(frames)).flatMap((event): unknown[] => {
        if (event.type === 'usage') return [[event.usage.webSearches, event.isPartial]];
        return event.type === 'relay' && event.usage ? [event.usage.webSearches] : [];
      });
    expect(usages([search, open, call, search].map(done).join(''))).toEqual([
      [1, true],
      [2, true],
    ]);
    const output = [search, open, search, { ...search, action: undefined }, call];
    const response = { status: 'completed', output, usage: RESPONSES_USAGE };
    expect(usages(encode({ type: 'response.completed', response }))).toEqual([3]);
  });

  it('edits the response objects and leaves every other byte unchanged', () => {
    const frames = framesOf({ text: 'Häl"lo 👋 \\ x' });
    const relayed = relay(frames);
    expect(relayed.failure).toBeUndefined();
    expect(relayed.started).toEqual([{ type: 'start', id: 'resp_vendor' }]);
    const expected = streamEvents(CALL, { text: 'Häl"lo 👋 \\ x' }).map((event) =>
      'response' in event ? { ...event, response: edited(event.response) } : event,
    );
    expect(relayed.events).toEqual(expected);
    expect(relayed.text).toContain(frames.slice(2, -1).join(''));
    expect(relayed.characters).toBe([...'Häl"lo 👋 \\ x'].length);
  });

  it('emits the last event separately, with the data for the ledger and the store', () => {
    const { relays } = relay(framesOf());
    const last = relays.at(-1)!;
    expect(last.bytes.toString()).toMatch(/^event: response\.completed\ndata: [^\n]*\n\n$/);
    expect(last).toMatchObject({
      hasContent: true,
      finishReason: 'stop',
      usage: {
        inputTokens: 20,
        outputTokens: 6,
        cacheReadTokens: 4,
        reasoningTokens: 2,
      },
      answer: { ...EDITS, status: 'completed', usage: RESPONSES_USAGE },
    });
    expect(relays.slice(0, -1).filter(({ answer }) => answer !== undefined)).toEqual([]);
  });

  it('treats nothing before the first delta as content', () => {
    const frames = framesOf();
    const firstDelta = frames.findIndex((frame) => frame.includes('output_text.delta'));
    const { relays } = relay(frames.slice(0, firstDelta));
    expect(relays.length).toBeGreaterThan(0);
    expect(relays.some(({ hasContent }) => hasContent)).toBe(false);
  });

  it.each(['function_call_arguments', 'reasoning_summary_text', 'refusal'])(
    'counts the deltas of %s',
    (name) => {
      const delta = { type: `response.${name}.delta`, sequence_number: 2, delta: 'äb"c' };
      const { relays, characters } = relay([framesOf()[0]!, encode(delta)]);
      expect(characters).toBe(4);
      expect(relays.at(-1)!.hasContent).toBe(true);
      expect(relays.at(-1)!.bytes.toString()).toBe(encode(delta));
    },
  );

  it('relays the bytes of a read uncopied when nothing in it is edited', () => {
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const delta = (sequence_number: number, piece: string): string =>
      encode({
        type: 'response.output_text.delta',
        sequence_number,
        ...place,
        delta: piece,
        logprobs: [],
        obfuscation: 'aB3',
      });
    const part = { type: 'response.content_part.added', sequence_number: 2, ...place, part: {} };
    const relay = new ResponsesStreamRelay(EDITS, {});
    relay.push(Buffer.from(framesOf()[0]!));
    const bytes = Buffer.from(encode(part) + delta(3, 'Grü') + delta(4, 'ße 👋'));
    const [event] = relay.push(bytes);
    expect(event).toMatchObject({ hasContent: true, outputCharacters: 7 });
    expect(event?.type === 'relay' && event.bytes).toBe(bytes);
  });

  it('drops comments and leaves the surrounding bytes unchanged', () => {
    const frames = framesOf();
    const [first, last] = [frames.slice(0, 3).join(''), frames.slice(3).join('')];
    const plain = relay([first, last]).text;
    expect(relay([`${first}: keep-alive\n\n${last}`]).text).toBe(plain);
    expect(relay([`: keep-alive\n\n${first}`, `: keep-alive\n\n${last}`]).text).toBe(plain);
  });

  it('edits every event of the beginning, whether it repeats the one before or not', () => {
    const beginning = (type: string, sequence_number: number, fields: object): Json => ({
      type: `response.${type}`,
      sequence_number,
      response: { id: 'resp_vendor', model: 'gpt', instructions: 'Grüße', ...fields },
    });
    const events = [
      beginning('created', 0, { status: 'in_progress' }),
      beginning('queued', 1, { status: 'queued' }),
      beginning('in_progress', 2, { status: 'in_progress' }),
      beginning('in_progress', 3, { status: 'in_progress' }),
    ];
    expect(relay([events.map(encode).join('')]).events).toEqual(
      events.map((event) => ({ ...event, response: edited(event.response) })),
    );
  });

  it('relays the same for any chunking', () => {
    const frames = framesOf({ text: 'Grüße 👋 an alle' });
    const bytes = Buffer.from(frames.join(''));
    const whole = relay([bytes]);
    for (let at = 1; at < bytes.length; at += 7) {
      const cut = relay([bytes.subarray(0, at), bytes.subarray(at)]);
      expect(cut.text).toBe(whole.text);
      expect(cut.characters).toBe(whole.characters);
    }
    const random = new SeededRandom(7);
    const pieces: Buffer[] = [];
    for (let start = 0; start < bytes.length;) {
      const end = Math.min(bytes.length, start + 1 + Math.floor(random.next() * 5));
      pieces.push(bytes.subarray(start, end));
      start = end;
    }
    expect(relay(pieces).text).toBe(whole.text);
  });

  it('reads events without names, with CRLF, over several lines, and with comments', () => {
    const events = streamEvents(CALL, { text: 'Hi' });
    const spellings = [
      events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
      events.map((event) => encode(event).replaceAll('\n', '\r\n')),
      events.map((event) =>
        encode(event).replace('data: {', 'data: {\ndata: ').replace('event:', ': ping\nevent:'),
      ),
    ];
    for (const frames of spellings) {
      const { failure, events: relayed, characters } = relay(frames);
      expect(failure).toBeUndefined();
      expect(characters).toBe(2);
      expect(relayed.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
    }
  });

  it.each<[FakeResponse, string]>([
    [{ status: 'incomplete', incompleteReason: 'max_output_tokens' }, 'length'],
    [{ status: 'incomplete', incompleteReason: 'content_filter' }, 'content_filter'],
    [{ output: [{ type: 'function_call', id: 'fc_1', name: 'f', arguments: '{}' }] }, 'tool_calls'],
  ])('reports why %j ended', (options, finishReason) => {
    expect(relay(framesOf(options)).relays.at(-1)).toMatchObject({ finishReason });
  });

  it('relays empty usage without counting it', () => {
    const last = relay(framesOf({ usage: null })).relays.at(-1)!;
    expect(last.usage).toBeUndefined();
  });

  it.each([
    ['rate_limit_exceeded', 'rate_limited'],
    ['server_error', 'server'],
    ['invalid_prompt', 'caller'],
    ['context_length_exceeded', 'context_length'],
    ['insufficient_quota', 'operator'],
  ])('classifies a failure with the code %s as %s', (code, failure) => {
    const response = { status: 'failed', error: { code, message: 'It broke.' } };
    const frames = framesOf();
    const failed = relay([...frames.slice(0, 8), encode({ type: 'response.failed', response })]);
    expect(failed.failure).toMatchObject({ failure, message: 'It broke.' });
    // The events before it are relayed.
    expect(failed.text).toContain(frames[7]);
  });

  it('reads an error event, and prefers a failed response after it', () => {
    const error = { type: 'error', sequence_number: 3, code: 'x', message: 'Something.' };
    const nested = { type: 'error', error: { code: 'rate_limit_exceeded', message: 'Slow.' } };
    const response = { error: { code: 'rate_limit_exceeded', message: 'Limit 1.' } };
    expect(relay([encode(error)]).failure).toMatchObject({
      failure: 'server',
      message: 'Something.',
    });
    expect(relay([encode(nested)]).failure).toMatchObject({ failure: 'rate_limited' });
    expect(
      relay([encode(error), encode({ type: 'response.failed', response })]).failure,
    ).toMatchObject({ failure: 'rate_limited', message: 'Limit 1.' });
    expect(relay(['data: {"error":{"message":"Plain."}}\n\n']).failure).toMatchObject({
      failure: 'server',
      message: 'Plain.',
    });
  });

  it.each<[string, string[], string]>([
    ['ends early', framesOf().slice(0, -1), 'cut'],
    ['is empty', [], 'cut'],
    ['is truncated in its last event', [framesOf().join('').slice(0, -20)], 'cut'],
    ['is not JSON', ['data: nonsense\n\n'], 'unreadable'],
    ['ends without a response', ['data: {"type":"response.completed"}\n\n'], 'unreadable'],
  ])('fails when the stream %s', (_name, pieces, failure) => {
    expect(relay(pieces).failure).toMatchObject({ failure });
  });

  it('accepts a last event without its blank line', () => {
    const text = framesOf().join('').trimEnd();
    expect(relay([text]).failure).toBeUndefined();
  });
});
