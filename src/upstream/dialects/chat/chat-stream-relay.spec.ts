import { describe, expect, it } from '@jest/globals';
import { SeededRandom } from '../../../../test/support/seeded-random.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import type { UpstreamError } from '../../upstream-error.js';
import { ChatStreamRelay, type ChatStreamRelayOptions } from './chat-stream-relay.js';

const OPTIONS: ChatStreamRelayOptions = { alias: 'openai/gpt-4o', includeUsage: false };
const WITH_USAGE: ChatStreamRelayOptions = { ...OPTIONS, includeUsage: true };

type Json = Record<string, unknown>;

/** What a caller and the ledger see of a stream, whatever its pieces were. */
interface Relayed {
  bytes: string;
  chunks: Json[];
  characters: number;
  usages: unknown[];
  finishReason: string | undefined;
  started: (string | undefined)[];
  failure: UpstreamError | undefined;
  isDone: boolean;
}

function relay(pieces: readonly Buffer[], options = OPTIONS): Relayed {
  const relay = new ChatStreamRelay(options);
  const events: CanonicalEvent[] = [];
  let failure: UpstreamError | undefined;
  try {
    for (const piece of pieces) {
      events.push(...relay.push(piece));
      if (relay.isDone || relay.failure) break;
    }
    events.push(...relay.end());
  } catch (error) {
    failure = error as UpstreamError;
  }
  const relayed: Relayed = {
    bytes: '',
    chunks: [],
    characters: 0,
    usages: [],
    finishReason: undefined,
    started: [],
    failure,
    isDone: relay.isDone,
  };
  const parts: Buffer[] = [];
  for (const event of events) {
    if (event.type === 'start') relayed.started.push(event.id);
    if (event.type === 'usage') relayed.usages.push(event.usage);
    if (event.type !== 'relay') continue;
    parts.push(event.bytes);
    relayed.characters += event.outputCharacters;
    relayed.finishReason ??= event.finishReason;
    if (event.usage) relayed.usages.push(event.usage);
  }
  relayed.bytes = Buffer.concat(parts).toString();
  relayed.chunks = relayed.bytes
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      if (!/^data: [^\n\r]*$/.test(frame)) throw new Error(`no event: ${frame}`);
      return JSON.parse(frame.slice('data: '.length)) as Json;
    });
  return relayed;
}

const relayText = (stream: string, options = OPTIONS) => relay([Buffer.from(stream)], options);

/** A chunk as OpenAI spells it. */
function chunk(choices: unknown[], fields: Json = {}): Json {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-4o-2024-08-06',
    system_fingerprint: 'fp_1',
    choices,
    ...fields,
  };
}

const choice = (delta: object, finish_reason: string | null = null, index = 0): Json => ({
  index,
  delta,
  logprobs: null,
  finish_reason,
});
const text = (content: string, fields: Json = {}): Json => chunk([choice({ content })], fields);
const opening = (fields: Json = {}): Json =>
  chunk([choice({ role: 'assistant', content: '' })], fields);
const stop = (fields: Json = {}): Json => chunk([choice({}, 'stop')], fields);
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const counted = expect.objectContaining({ inputTokens: 10, outputTokens: 5 }) as unknown;
const usageChunk = (): Json => chunk([], { usage });

const sse = (...chunks: (Json | string)[]): string =>
  chunks
    .map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`)
    .join('');

/** The documented edits, done the plain way. */
function edited(chunks: Json[], { alias, includeUsage }: ChatStreamRelayOptions): Json[] {
  return chunks
    .filter(({ choices }) => (choices as unknown[]).length > 0)
    .map(({ usage, ...chunk }) => ({
      ...chunk,
      model: alias,
      ...(usage === null && includeUsage && { usage }),
    }));
}

const NEEDLES = [
  '"model":"gpt-4o-2024-08-06"',
  ',"usage":null',
  '"usage":{"prompt_tokens":1,"completion_tokens":1}',
  '"finish_reason":null',
  '"finish_reason":"stop"',
  '"delta":{"content":"',
  '"delta":',
  '"index":0',
  '"error":{"message":"x"}',
  'data: [DONE]\n\n',
  '\n\n',
  '\r\n\r\n',
  'data: {"error":{}}\n\n',
  '\\"',
  '\\',
  '\\\\"}',
  '"}}]}',
  '$&',
  '$1$`',
  '\u0000',
  '\u2028',
  '\ud800',
  '\udc00',
  'größe 日本 🙂',
  '',
];

const STREAMS: [string, string][] = [
  ['OpenAI', sse(opening(), text('Hel'), text('lo 日本🙂'), stop(), usageChunk(), '[DONE]')],
  [
    'OpenAI when usage is asked for',
    sse(
      opening({ usage: null }),
      text('Hel', { usage: null }),
      text('lo', { usage: null }),
      stop({ usage: null }),
      usageChunk(),
      '[DONE]',
    ),
  ],
  [
    'Azure',
    sse(
      { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [] },
      opening(),
      text('Hi'),
      stop({ usage: null }),
      usageChunk(),
      '[DONE]',
    ),
  ],
  [
    'a server with comments, names and ids',
    `: hello\n\nretry: 5\n\nid: 1\nevent: message\ndata: ${JSON.stringify(opening())}\n\n` +
      `: ping\ndata: ${JSON.stringify(text('Hi'))}\n: pong\n\n` +
      `data:\n\ndata: \n\n${sse(stop(), usageChunk(), '[DONE]')}: bye\n\n`,
  ],
  [
    'a server with carriage returns',
    sse(opening(), text('Hel'), text('lo 🙂'), stop(), usageChunk(), '[DONE]').replaceAll(
      '\n',
      '\r\n',
    ),
  ],
  [
    'a server with spaces after its colons and none after data',
    [opening(), text('Hel'), text('lo 日本'), stop(), { ...usageChunk() }]
      .map((item) => `data:${JSON.stringify(item, null, 1).replaceAll('\n', '')}\n\n`)
      .join('') + 'data:[DONE]\n\n',
  ],
  [
    'a server with several data lines an event',
    [opening(), text('Hi'), stop(), usageChunk()]
      .map((item) => JSON.stringify(item, null, 2).replace(/^/gm, 'data: ') + '\n\n')
      .join('') + 'data: [DONE]\n\n',
  ],
  [
    'tool calls in parallel',
    sse(
      opening(),
      chunk([
        choice({
          tool_calls: [
            { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
          ],
        }),
      ]),
      chunk([
        choice({
          tool_calls: [
            { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
          ],
        }),
      ]),
      chunk([choice({ tool_calls: [{ index: 1, function: { arguments: '{"x":"日' } }] })]),
      chunk([choice({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] })]),
      chunk([choice({ tool_calls: [{ index: 1, function: { arguments: '"}' } }] })]),
      chunk([choice({}, 'tool_calls')]),
      usageChunk(),
      '[DONE]',
    ),
  ],
  [
    'three choices, some in one chunk',
    sse(
      chunk([0, 1, 2].map((index) => choice({ role: 'assistant', content: '' }, null, index))),
      chunk([choice({ content: 'b' }, null, 1)]),
      chunk([choice({ content: 'a' }), choice({ content: 'c' }, null, 2)]),
      chunk([choice({}, 'stop', 1), choice({ content: 'A' })]),
      chunk([choice({}, 'length', 0)]),
      chunk([choice({}, 'stop', 2)]),
      usageChunk(),
      '[DONE]',
    ),
  ],
  [
    'usage in every chunk',
    sse(...[opening(), text('Hi'), stop()].map((c) => ({ ...c, usage })), '[DONE]'),
  ],
  [
    'an end without a blank line',
    sse(opening(), text('Hi'), stop(), usageChunk()) + 'data: [DONE]',
  ],
  ['a break in the middle', sse(opening(), text('Hi')) + 'data: {"id":"chatcmpl-1","cho'],
  ['an error', sse(opening(), text('Hi'), { error: { message: 'overloaded' } }, text('!'))],
  ['a line that is no JSON', sse(opening(), text('Hi'), 'oops', text('!'))],
  [
    'texts like its own syntax',
    sse(opening(), ...NEEDLES.map((it) => text(it)), stop(), usageChunk(), '[DONE]'),
  ],
];

describe(ChatStreamRelay.name, () => {
  describe.each(STREAMS)('a stream of %s', (_, stream) => {
    it.each([OPTIONS, WITH_USAGE])('comes out the same however it is cut (%j)', (options) => {
      const bytes = Buffer.from(stream);
      const outcomeOf = (...pieces: Buffer[]) => JSON.stringify(relay(pieces, options));
      const whole = outcomeOf(bytes);
      expect(outcomeOf(...Array.from(bytes, (byte) => Buffer.of(byte)))).toBe(whole);
      const step = bytes.length > 3_000 ? 3 : 1;
      for (let offset = 1; offset < bytes.length; offset += step) {
        const outcome = outcomeOf(bytes.subarray(0, offset), bytes.subarray(offset));
        if (outcome !== whole) expect({ offset, outcome }).toEqual({ offset, outcome: whole });
      }
    });
  });

  it('changes the model and nothing else', () => {
    const chunks = [
      opening(),
      text('Hel', { obfuscation: 'aX9' }),
      text('lo'),
      chunk([
        {
          index: 0,
          delta: { content: '!' },
          logprobs: { content: [{ token: '"!', logprob: -0.1, bytes: [33], top_logprobs: [] }] },
          finish_reason: null,
        },
      ]),
      stop({ service_tier: 'default' }),
    ];
    const { bytes } = relayText(sse(...chunks, '[DONE]'));
    expect(bytes).toBe(sse(...chunks).replaceAll('gpt-4o-2024-08-06', OPTIONS.alias));
  });

  it('keeps the spelling of what it does not edit', () => {
    const spelled =
      '{"id":"a","big":12345678901234567890,"one":1.0,"e":1e2,"model": "gpt","x":"\\u0041\\/",' +
      '"choices" : [ {"index":0,"delta":{"content":"\\u65e5"},"finish_reason":"stop"} ]}';
    expect(relayText(sse(spelled, '[DONE]')).bytes).toBe(
      `data: ${spelled.replace('"gpt"', '"openai/gpt-4o"')}\n\n`,
    );
  });

  it.each([OPTIONS, WITH_USAGE])('does only the documented edits to any stream (%j)', (options) => {
    const random = new SeededRandom(3);
    for (let round = 0; round < 300; round++) {
      const chunks = randomChunks(random);
      const spaced = random.below(4) === 0;
      const stream = chunks
        .map((item) => (spaced ? JSON.stringify(item, null, 1).replaceAll('\n', '') : item))
        .map((item) => sse(item));
      const { chunks: relayed, characters } = relayText(stream.join('') + sse('[DONE]'), options);
      const withoutUsageChunk = options.includeUsage
        ? relayed.filter(({ choices }) => (choices as unknown[]).length > 0)
        : relayed;
      expect(withoutUsageChunk).toEqual(edited(chunks, options));
      expect(characters).toBe(charactersOf(chunks));
    }
  });

  it.each(NEEDLES)('is not misled by a model that says %j', (content) => {
    const chunks = [opening(), text(content), text(content, { usage: null }), stop()];
    const { chunks: relayed, characters, finishReason } = relayText(sse(...chunks, '[DONE]'));
    expect(relayed).toEqual(edited(chunks, OPTIONS));
    expect(characters).toBe(2 * [...content].length);
    expect(finishReason).toBe('stop');
  });

  it.each(['gpt-$&', '$1', 'a"b', 'größe', 'x\\y', '🙂', '', 'a/b'])(
    'exchanges the model name %j',
    (model) => {
      const chunks = [opening({ model }), text('Hi', { model }), stop({ model })];
      for (const alias of ['openai/gpt-4o', 'x/$&', 'x/$`"\\größe🙂']) {
        const options = { alias, includeUsage: false };
        expect(relayText(sse(...chunks, '[DONE]'), options).chunks).toEqual(
          edited(chunks, options),
        );
      }
    },
  );

  it('exchanges only the chunk’s own model name', () => {
    const nested = { model: 'gpt-4o-2024-08-06' };
    const chunks = [opening(), text('Hi'), text('!')].map((item) => ({
      nested,
      ...item,
      after: nested,
    }));
    expect(relayText(sse(...chunks, stop(), '[DONE]')).chunks).toEqual(
      edited([...chunks, stop()], OPTIONS),
    );
  });

  it('follows a model name that changes, and adds one that is missing', () => {
    const { model: _, ...nameless } = text('c');
    const chunks = [opening(), text('a', { model: 'other' }), text('b'), nameless, stop()];
    expect(relayText(sse(...chunks, '[DONE]')).chunks.map(({ model }) => model)).toEqual(
      Array(5).fill('openai/gpt-4o'),
    );
  });

  describe('usage', () => {
    const begun = [
      opening({ usage: null }),
      text('a', { usage: null }),
      text('b', { usage: null }),
    ];
    const streamed = (...rest: (Json | string)[]) => sse(...begun, ...rest);

    it('is kept from callers who did not ask, `"usage":null` included', () => {
      const { bytes, usages } = relayText(streamed(stop({ usage: null }), usageChunk(), '[DONE]'));
      expect(bytes).not.toContain('usage');
      expect(usages).toEqual([counted]);
    });

    it('is shown last to those who asked, under the alias', () => {
      const stream = streamed(stop({ usage: null }), usageChunk(), '[DONE]');
      const { chunks, usages } = relayText(stream, WITH_USAGE);
      expect(chunks.slice(0, -1).every((item) => item.usage === null)).toBe(true);
      expect(chunks.at(-1)).toEqual({ ...usageChunk(), model: 'openai/gpt-4o' });
      expect(usages).toEqual([counted]);
    });

    it.each([OPTIONS, WITH_USAGE])('counts in a chunk that also has choices (%j)', (options) => {
      const stream = sse(...begun, stop({ usage }), '[DONE]');
      const { chunks, usages, finishReason } = relayText(stream, options);
      expect(usages).toEqual([counted]);
      expect(finishReason).toBe('stop');
      const ending = chunks.find(({ choices }) =>
        (choices as { finish_reason: unknown }[]).some((it) => it.finish_reason === 'stop'),
      );
      expect(ending).not.toHaveProperty('usage');
      const shown = chunks.filter((item) => item.usage != null);
      expect(shown).toEqual(
        options.includeUsage ? [{ ...usageChunk(), model: options.alias }] : [],
      );
    });

    it('of the last chunk that has any counts', () => {
      const later = { prompt_tokens: 10, completion_tokens: 6 };
      const running = (completion_tokens: number) => ({ prompt_tokens: 10, completion_tokens });
      const stream = sse(
        opening({ usage: running(0) }),
        text('a', { usage: running(1) }),
        text('b', { usage: running(2) }),
        stop({ usage: later }),
        '[DONE]',
      );
      const { usages, chunks } = relayText(stream, WITH_USAGE);
      expect(usages).toEqual([expect.objectContaining({ inputTokens: 10, outputTokens: 6 })]);
      expect(chunks.filter((item) => item.usage != null)).toEqual([
        expect.objectContaining({ usage: later, choices: [] }),
      ]);
    });

    it('in a later chunk than the finish reason counts', () => {
      const { usages } = relayText(sse(...begun, stop(), text(''), usageChunk(), '[DONE]'));
      expect(usages).toEqual([counted]);
    });

    it('that a server puts into the choice counts', () => {
      const ending = chunk([{ ...choice({}, 'stop'), usage }]);
      for (const options of [OPTIONS, WITH_USAGE]) {
        expect(relayText(sse(...begun, ending, '[DONE]'), options).usages).toEqual([counted]);
      }
    });

    it('of all zeros is none', () => {
      const zero = chunk([], { usage: { prompt_tokens: 0, completion_tokens: 0 } });
      expect(relayText(sse(...begun, stop(), zero, '[DONE]'), WITH_USAGE).usages).toEqual([]);
    });

    it('survives a chunk that shows null first and figures elsewhere', () => {
      const odd = text('c', { first: { a: 1, usage: null }, usage });
      expect(relayText(sse(...begun, odd, stop(), '[DONE]')).usages).toEqual([counted]);
    });
  });

  describe('the end', () => {
    const begun = sse(opening(), text('Hi'));

    it('without [DONE] is complete after a finish reason', () => {
      const { failure, isDone, finishReason } = relayText(begun + sse(stop()));
      expect({ failure, isDone, finishReason }).toEqual({
        failure: undefined,
        isDone: false,
        finishReason: 'stop',
      });
    });

    it.each([
      ['of the stream', begun],
      ['with [DONE]', begun + sse('[DONE]')],
      ['in the middle of an event', begun + sse(stop()).slice(0, -20)],
      ['before anything', ''],
      ['with [DONE] alone', sse('[DONE]')],
      ['after a comment', ': hello\n\n'],
      ['with usage only', begun + sse(usageChunk(), '[DONE]')],
      ['with an empty finish reason', begun + sse(chunk([choice({}, '')]), '[DONE]')],
    ])('%s without a finish reason is a cut', (_, stream) => {
      expect(relayText(stream).failure).toMatchObject({ failure: 'cut' });
    });

    it('of one choice is not the end of the others', () => {
      const first = chunk([choice({ content: 'a' }), choice({ content: 'b' }, null, 1)]);
      const one = sse(opening(), first, chunk([choice({}, 'stop', 1)]));
      expect(relayText(one).failure).toMatchObject({ failure: 'cut' });
      expect(relayText(one + sse(stop())).failure).toBeUndefined();
    });

    it('notices a choice that began without naming its role', () => {
      const second = chunk([choice({ content: 'b' }, null, 1)]);
      const stream = sse(opening(), text('a'), second, second, stop(), '[DONE]');
      expect(relayText(stream).failure).toMatchObject({ failure: 'cut' });
    });

    it('ignores what follows [DONE]', () => {
      const { failure, chunks } = relayText(
        begun + sse(stop(), '[DONE]', 'junk', text('x')) + 'dat',
      );
      expect(failure).toBeUndefined();
      expect(chunks).toHaveLength(3);
    });

    it('takes [DONE] with white space around it', () => {
      expect(relayText(begun + sse(stop(), ' [DONE] ')).isDone).toBe(true);
    });

    it('drops a torn event after a complete answer', () => {
      const { failure, chunks } = relayText(`${begun}${sse(stop())}data: [DO`);
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

    it('repeats nothing of the last event in the usage chunk', () => {
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
    it('come after what was said before them', () => {
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

    it('are none for an error of null', () => {
      const stream = sse(opening({ error: null }), text('Hi', { error: null }), stop());
      expect(relayText(stream)).toMatchObject({ failure: undefined, characters: 2 });
    });

    it.each(['oops', '{"choices":[', '[]', 'null', '1', '"x"'])(
      'of %s in place of a chunk say so',
      (data) => {
        const { failure } = relayText(sse(opening(), data));
        expect(failure).toMatchObject({ failure: 'unreadable' });
        expect(failure?.message).not.toContain(data);
      },
    );

    it('of an event without end are reported', () => {
      const piece = Buffer.alloc(1024 * 1024, 'x');
      const { failure } = relay([Buffer.from('data: '), ...Array<Buffer>(17).fill(piece)]);
      expect(failure).toMatchObject({ failure: 'unreadable' });
    });
  });

  describe('beginnings', () => {
    it('give the id once, with the first chunk that has choices', () => {
      const prelude = { id: '', choices: [], model: '', prompt_filter_results: [] };
      expect(relayText(sse(prelude, opening(), text('a'), stop())).started).toEqual(['chatcmpl-1']);
      expect(relayText(sse(opening({ id: '' }), stop())).started).toEqual([undefined]);
      expect(relayText(sse(opening({ id: 7 }), stop())).started).toEqual([undefined]);
    });

    it('are no content before the first text', () => {
      const relay = new ChatStreamRelay(OPTIONS);
      const contentOf = (item: Json) =>
        relay
          .push(Buffer.from(sse(item)))
          .map((event) => event.type === 'relay' && event.hasContent);
      expect(contentOf(opening())).toEqual([false, false]);
      expect(contentOf(text(''))).toEqual([false]);
      expect(contentOf(chunk([choice({ content: null })]))).toEqual([false]);
      expect(contentOf(text('a'))).toEqual([true]);
      expect(contentOf(chunk([choice({ reasoning_content: 'hm' })]))).toEqual([true]);
      expect(contentOf(chunk([choice({ function_call: { name: 'f' } })]))).toEqual([true]);
      expect(contentOf(chunk([choice({ tool_calls: [{ index: 0 }] })]))).toEqual([true]);
      expect(contentOf(stop())).toEqual([true]);
    });

    it('with a byte order mark lose nothing', () => {
      expect(relayText('\ufeff' + sse(text('Hi'), stop())).characters).toBe(2);
    });
  });

  it('relays an event of 10 MB', () => {
    const content = '日"🙂x'.repeat(1_000_000);
    const stream = Buffer.from(sse(opening(), text(content), stop(), '[DONE]'));
    const pieces: Buffer[] = [];
    for (let start = 0; start < stream.length; start += 65_536) {
      pieces.push(stream.subarray(start, start + 65_536));
    }
    const { chunks, characters } = relay(pieces);
    expect(characters).toBe(4_000_000);
    expect((chunks[1]?.choices as { delta: unknown }[])[0]?.delta).toEqual({ content });
  });
});

function randomChunks(random: SeededRandom): Json[] {
  const content = () => random.pick(NEEDLES) + random.pick(NEEDLES);
  const oneOf = (part: number, fields: Json): Json => (random.below(part) === 0 ? fields : {});
  const someChoice = (delta: object, index = 0): Json =>
    shuffled(random, {
      ...choice(delta, null, index),
      ...oneOf(4, { native_finish_reason: random.pick([null, 'stop']) }),
      ...oneOf(8, { my_error: { delta: { content: 'x' } } }),
    });
  const someChunk = (...choices: Json[]): Json =>
    shuffled(random, {
      ...chunk(choices),
      ...oneOf(3, { usage: null }),
      ...oneOf(6, { usage }),
      ...oneOf(4, { obfuscation: random.pick(NEEDLES) }),
      ...oneOf(6, { model: random.pick(['', 'a/b', 'größe']) }),
      ...oneOf(8, { base_model: 'gpt-4o-2024-08-06', last_usage: null }),
      ...oneOf(8, { nested: { model: 'gpt-4o-2024-08-06', finish_reason: null } }),
    });
  const chunks = Array.from({ length: random.below(8) }, () => {
    switch (random.below(7)) {
      case 0:
        return someChunk(someChoice({ content: content() }), someChoice({ content: content() }, 1));
      case 1:
        return someChunk(
          someChoice({ tool_calls: [{ index: 1, function: { arguments: content() } }] }),
        );
      case 2:
        return someChunk(someChoice({ reasoning_content: content(), content: content() }));
      case 3:
        return someChunk();
      default:
        return someChunk(someChoice({ content: content() }));
    }
  });
  return [opening(), ...chunks, chunk([choice({}, 'stop'), choice({}, 'stop', 1)])];
}

/** The same members in another order, half of the time. */
function shuffled(random: SeededRandom, object: Json): Json {
  if (random.below(2) === 0) return object;
  const ranked = Object.entries(object).map((entry) => ({ entry, rank: random.next() }));
  ranked.sort((one, other) => one.rank - other.rank);
  return Object.fromEntries(ranked.map(({ entry }) => entry));
}

/** Code points of all text in chunks, counted the plain way. */
function charactersOf(chunks: Json[]): number {
  const texts = chunks
    .flatMap(({ choices }) => choices as { delta: Record<string, unknown> }[])
    .flatMap(({ delta }) => [
      delta.content,
      delta.reasoning_content,
      ...((delta.tool_calls ?? []) as { function: { arguments: string } }[]).map(
        (call) => call.function.arguments,
      ),
    ]);
  return texts.reduce<number>((sum, it) => sum + [...((it as string | undefined) ?? '')].length, 0);
}
