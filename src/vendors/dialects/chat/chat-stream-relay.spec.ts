import { describe, expect, it } from '@jest/globals';
import { cuttingsOf } from '../../../../test/support/cuttings.js';
import { SeededRandom } from '../../../../test/support/seeded-random.js';
import { ChatStreamRelay } from './chat-stream-relay.js';
import {
  OPTIONS,
  WITH_USAGE,
  type Json,
  relay,
  relayText,
  chunk,
  choice,
  text,
  opening,
  stop,
  usage,
  usageChunk,
  sse,
  edited,
  NEEDLES,
  STREAMS,
} from '../../../../test/support/chat-streams.js';

describe(ChatStreamRelay.name, () => {
  describe.each(STREAMS)('a stream of %s', (_, stream) => {
    it.each([OPTIONS, WITH_USAGE])('is the same for any chunking (%j)', (options) => {
      const bytes = Buffer.from(stream);
      const outcomeOf = (...pieces: Buffer[]) => JSON.stringify(relay(pieces, options));
      const whole = outcomeOf(bytes);
      expect(outcomeOf(...Array.from(bytes, (byte) => Buffer.of(byte)))).toBe(whole);
      for (const pieces of cuttingsOf(bytes, 7)) {
        const outcome = outcomeOf(...pieces);
        if (outcome !== whole) expect({ pieces, outcome }).toEqual({ pieces, outcome: whole });
      }
    });
  });

  it('changes only the model', () => {
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

  it('keeps the formatting of unedited parts', () => {
    const spelled =
      '{"id":"a","big":12345678901234567890,"one":1.0,"e":1e2,"model": "gpt","x":"\\u0041\\/",' +
      '"choices" : [ {"index":0,"delta":{"content":"\\u65e5"},"finish_reason":"stop"} ]}';
    expect(relayText(sse(spelled, '[DONE]')).bytes).toBe(
      `data: ${spelled.replace('"gpt"', '"openai/gpt-4o"')}\n\n`,
    );
  });

  it.each([OPTIONS, WITH_USAGE])(
    'applies only the documented edits to any stream (%j)',
    (options) => {
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
    },
  );

  it.each(NEEDLES)('is not misled by a model that writes %j', (content) => {
    const chunks = [opening(), text(content), text(content, { usage: null }), stop()];
    const { chunks: relayed, characters, finishReason } = relayText(sse(...chunks, '[DONE]'));
    expect(relayed).toEqual(edited(chunks, OPTIONS));
    expect(characters).toBe(2 * [...content].length);
    expect(finishReason).toBe('stop');
  });

  it.each(['gpt-$&', '$1', 'a"b', 'größe', 'x\\y', '🙂', '', 'a/b'])(
    'replaces the model name %j',
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

  it("maps a server's own finish reason to the interface's, once", () => {
    const ends = (finish_reason: string): Json =>
      chunk([{ index: 0, delta: {}, logprobs: null, finish_reason }]);
    const chunks = [opening(), text('größe'), ends('model_length')];
    const relayed = relayText(sse(...chunks, usageChunk(), '[DONE]'), WITH_USAGE);
    expect(relayed.finishReason).toBe('length');
    expect(relayed.chunks.slice(0, -1)).toEqual(
      edited([...chunks.slice(0, -1), ends('length')], WITH_USAGE),
    );
    expect(relayed.chunks.at(-1)).toHaveProperty('usage');
    expect(relayText(sse(opening(), ends('network_error'))).failure?.failure).toBe('server');
  });

  it("replaces only the chunk's own model name", () => {
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

  it('follows a changing model name, and adds a missing one', () => {
    const { model: _, ...nameless } = text('c');
    const chunks = [opening(), text('a', { model: 'other' }), text('b'), nameless, stop()];
    expect(relayText(sse(...chunks, '[DONE]')).chunks.map(({ model }) => model)).toEqual(
      Array(5).fill('openai/gpt-4o'),
    );
  });

  describe('beginnings', () => {
    it('report the id once, with the first chunk that has choices', () => {
      const prelude = { id: '', choices: [], model: '', prompt_filter_results: [] };
      expect(relayText(sse(prelude, opening(), text('a'), stop())).started).toEqual(['chatcmpl-1']);
      expect(relayText(sse(opening({ id: '' }), stop())).started).toEqual([undefined]);
      expect(relayText(sse(opening({ id: 7 }), stop())).started).toEqual([undefined]);
    });

    it('are not content before the first text', () => {
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

    it('lose nothing with a byte order mark', () => {
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
    expect((chunks[1]!.choices as { delta: unknown }[])[0]?.delta).toEqual({ content });
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

/** Returns the object, with its members shuffled half of the time. */
function shuffled(random: SeededRandom, object: Json): Json {
  if (random.below(2) === 0) return object;
  const ranked = Object.entries(object).map((entry) => ({ entry, rank: random.next() }));
  ranked.sort((one, other) => one.rank - other.rank);
  return Object.fromEntries(ranked.map(({ entry }) => entry));
}

/** Counts the code points of all text in chunks, without optimizations. */
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
