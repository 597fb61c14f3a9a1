import { describe, expect, it } from '@jest/globals';
import {
  assembleMessage,
  parseMessageEvents,
  type MessageEvent,
} from '../../test/support/message-events.js';
import type { BillableRoute } from '../canonical/billable-request.js';
import type { CanonicalEvent, SettledEvent } from '../canonical/canonical-event.js';
import { collect } from '../canonical/collect.js';
import { NO_USAGE } from '../canonical/usage.js';
import { ProviderError } from '../common/errors/gateway-errors.js';
import { MessagesStreamRenderer } from './messages.render.js';
import { renderMessage } from './render-message.js';

const requestId = '0f8fad5b-d9cb-469f-a165-70867728950e';
const route = { model: 'a/b', provider: 'a' } as BillableRoute;
const opening: CanonicalEvent = { type: 'route', route, droppedParams: [] };
const settled: SettledEvent = {
  type: 'settled',
  cost: 7,
  usage: {
    ...NO_USAGE,
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: 4,
    cacheWriteTokens: 3,
    cacheWriteLongTokens: 1,
    reasoningTokens: 2,
  },
  usageSource: 'upstream',
};
const usage = {
  input_tokens: 3,
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 3,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
  output_tokens: 5,
  output_tokens_details: { thinking_tokens: 2 },
};
const relay = (fields: object = {}): CanonicalEvent => ({
  type: 'relay',
  dialect: 'messages',
  bytes: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'),
  hasContent: true,
  outputCharacters: 1,
  ...fields,
});

const text = (content: string): CanonicalEvent => ({ type: 'text', choice: 0, text: content });
const think = (content: string, seal?: string): CanonicalEvent => ({
  type: 'reasoning',
  choice: 0,
  text: content,
  ...(seal !== undefined && { seal }),
});
const call = (index: number, seal?: string): CanonicalEvent => ({
  type: 'tool_call',
  choice: 0,
  index,
  id: `call_${index}`,
  name: 'f',
  ...(seal !== undefined && { seal }),
});
const args = (index: number, piece: string): CanonicalEvent => ({
  type: 'tool_arguments',
  choice: 0,
  index,
  text: piece,
});
const finish = (reason = 'stop', stopSequence?: string): CanonicalEvent => ({
  type: 'finish',
  choice: 0,
  reason,
  ...(stopSequence !== undefined && { stopSequence }),
});
const toolUse = (index: number, input: object): object => ({
  type: 'tool_use',
  id: `call_${index}`,
  name: 'f',
  input,
});

const newRenderer = (): MessagesStreamRenderer =>
  new MessagesStreamRenderer({ requestId, promptCharacters: 9 });

function streamOf(events: CanonicalEvent[]): MessageEvent[] {
  const renderer = newRenderer();
  const pieces = [opening, ...events, settled].map((event) => renderer.render(event) ?? '');
  return parseMessageEvents(pieces.join('') + renderer.end());
}

/** The bytes of the events' whole answer. */
async function bytesOf(events: CanonicalEvent[]): Promise<string> {
  async function* all(): AsyncGenerator<CanonicalEvent> {
    yield* [opening, ...events, settled];
  }
  return renderMessage(await collect(all()), requestId).toString();
}

const wholeOf = async (events: CanonicalEvent[]): Promise<Record<string, unknown>> =>
  JSON.parse(await bytesOf(events)) as Record<string, unknown>;

/** An answer as both of its forms show it, which must be the same. */
async function bothOf(events: CanonicalEvent[]): Promise<Record<string, unknown>> {
  const whole = await wholeOf(events);
  expect(assembleMessage(streamOf(events))).toEqual(whole);
  return whole;
}
const contentOf = async (events: CanonicalEvent[]): Promise<unknown> =>
  (await bothOf([...events, finish()])).content;

describe('an answer as a message', () => {
  it('has all its members, streamed and whole', async () => {
    const events = [{ type: 'start', id: 'x' } as const, text('Hello '), text('👋'), finish()];
    expect(await bothOf(events)).toEqual({
      id: 'msg_0f8fad5bd9cb469fa16570867728950e',
      type: 'message',
      role: 'assistant',
      model: 'a/b',
      content: [{ type: 'text', text: 'Hello 👋' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    });
  });

  it.each<[CanonicalEvent, string, string | null]>([
    [finish('stop'), 'end_turn', null],
    [finish('stop', 'END'), 'stop_sequence', 'END'],
    [finish('length'), 'max_tokens', null],
    [finish('tool_calls'), 'tool_use', null],
    [finish('content_filter'), 'refusal', null],
    [finish('pause_turn'), 'pause_turn', null],
    [finish('constructor'), 'constructor', null],
  ])('ends with the reason of %j', async (end, stop_reason, stop_sequence) => {
    expect(await bothOf([text('x'), end])).toMatchObject({ stop_reason, stop_sequence });
  });

  it('ends with tool_use where a vendor says stop of a tool call', async () => {
    const events = [call(0), args(0, '{}')];
    expect(await bothOf([...events, finish('stop')])).toMatchObject({ stop_reason: 'tool_use' });
    expect(await bothOf([...events, finish('length')])).toMatchObject({
      stop_reason: 'max_tokens',
    });
  });

  it('may have no content, and no reason', async () => {
    expect(await bothOf([finish()])).toMatchObject({ content: [], stop_reason: 'end_turn' });
    expect(await bothOf([])).toMatchObject({ content: [], stop_reason: null });
    expect(await contentOf([text('')])).toEqual([]);
  });

  it('shows a refusal as text', async () => {
    const refusal: CanonicalEvent = { type: 'refusal', choice: 0, text: 'No.' };
    expect(await contentOf([refusal])).toEqual([{ type: 'text', text: 'No.' }]);
  });

  it('leaves other choices out', async () => {
    expect(await contentOf([text('a'), { type: 'text', choice: 1, text: 'b' }])).toEqual([
      { type: 'text', text: 'a' },
    ]);
  });

  describe('reasoning', () => {
    it.each<[string, CanonicalEvent[], object[]]>([
      [
        'sealed by the native maker',
        [think('Hm'), think('m.'), think('', 'anthropic:c2ln')],
        [{ type: 'thinking', thinking: 'Hmm.', signature: 'c2ln' }],
      ],
      [
        'sealed by another maker',
        [think('Hmm.', 'other:c2ln')],
        [{ type: 'thinking', thinking: 'Hmm.', signature: 'other:c2ln' }],
      ],
      [
        'without a seal',
        [think('Hm'), think('m.')],
        [{ type: 'thinking', thinking: 'Hmm.', signature: '' }],
      ],
      [
        'of a signature alone',
        [think('', 'anthropic:c2ln')],
        [{ type: 'thinking', thinking: '', signature: 'c2ln' }],
      ],
      [
        'that is encrypted',
        [think('', 'anthropic:redacted:QQ=='), think('', 'other:Qg==')],
        [
          { type: 'redacted_thinking', data: 'QQ==' },
          { type: 'redacted_thinking', data: 'other:Qg==' },
        ],
      ],
      [
        'in several blocks',
        [think('One', 'anthropic:MQ=='), think('Two'), think('', 'anthropic:Mg==')],
        [
          { type: 'thinking', thinking: 'One', signature: 'MQ==' },
          { type: 'thinking', thinking: 'Two', signature: 'Mg==' },
        ],
      ],
      [
        'with an encrypted thought behind it',
        [think('One'), think('', 'anthropic:redacted:Mg==')],
        [
          { type: 'thinking', thinking: 'One', signature: '' },
          { type: 'redacted_thinking', data: 'Mg==' },
        ],
      ],
    ])('%s stands before the text', async (_name, events, blocks) => {
      expect(await contentOf([...events, text('So.')])).toEqual([
        ...blocks,
        { type: 'text', text: 'So.' },
      ]);
    });
  });

  describe('tool calls', () => {
    it('come one after the other', async () => {
      const events = [text('a'), call(0), args(0, '{"a":'), args(0, '1}'), call(1), args(1, '{}')];
      expect(await contentOf(events)).toEqual([
        { type: 'text', text: 'a' },
        toolUse(0, { a: 1 }),
        toolUse(1, {}),
      ]);
    });

    it('are kept apart when their arguments come by turns', async () => {
      const events = [
        ...[call(0), call(1), args(0, '{"a":'), args(1, '{"b":{'), args(0, '"}"'), call(2)],
        ...[args(1, '}'), args(0, '}'), args(2, '{"c":3}'), args(1, '}')],
      ];
      expect(await contentOf(events)).toEqual([
        toolUse(0, { a: '}' }),
        toolUse(1, { b: {} }),
        toolUse(2, { c: 3 }),
      ]);
    });

    it('have an empty input without arguments', async () => {
      const content = [toolUse(0, {}), toolUse(1, { b: 1 })];
      expect(await contentOf([call(0), call(1), args(1, '{"b":1}')])).toEqual(content);
      expect(await contentOf([call(0), args(0, ''), call(1), args(1, '{"b":1}')])).toEqual(content);
    });

    it('may be numbered from anywhere', async () => {
      expect(await contentOf([call(2), args(2, '{}')])).toEqual([toolUse(2, {})]);
    });

    it('show their seals as thoughts before them', async () => {
      expect(await contentOf([call(0, 'other:c2ln'), args(0, '{}'), call(1)])).toEqual([
        { type: 'redacted_thinking', data: 'call:Y2FsbF8w:other:c2ln' },
        toolUse(0, {}),
        toolUse(1, {}),
      ]);
    });

    it('keep numbers and keys as the model wrote them', async () => {
      const json = '{"id":12345678901234567890,"__proto__":{"a":1e400}}';
      expect(await bytesOf([call(0), args(0, json), finish()])).toContain(`"input":${json}`);
    });

    it.each(['{"a":', '[1]', '"x"', 'null', '{"a":1}}', 'city=Rome'])(
      'show arguments that are no object (%s) whole, under a name that tells',
      async (json) => {
        const { content } = await wholeOf([call(0), args(0, json), finish('length')]);
        expect(content).toEqual([toolUse(0, { INVALID_JSON: json })]);
        const streamed = streamOf([call(0), args(0, json), finish('length')]);
        const pieces = streamed.flatMap(({ delta }) => delta?.partial_json ?? []);
        expect(pieces).toEqual([json]);
      },
    );
  });
});

describe(MessagesStreamRenderer.name, () => {
  it('keeps the interface’s order of events', () => {
    const types = streamOf([text('a'), text('b'), finish()]).map(({ type }) => type);
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('sends what has come before the charge, and the end after it', () => {
    const renderer = newRenderer();
    renderer.render(opening);
    const types = (event: CanonicalEvent): string[] =>
      parseMessageEvents(renderer.render(event)?.toString() ?? '').map(({ type }) => type);
    expect(types({ type: 'start', id: 'x' })).toEqual([]);
    expect(types(text('a'))).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
    ]);
    expect(types(finish())).toEqual(['content_block_stop']);
    expect(types({ type: 'usage', usage: NO_USAGE })).toEqual([]);
    expect(types(settled)).toEqual(['message_delta']);
  });

  it('does not wait with the arguments of the first call, or of one that stands alone', () => {
    const renderer = newRenderer();
    const types = [call(0), args(0, '{"a"'), args(0, ':1}'), call(1), args(1, '{')].map((event) =>
      parseMessageEvents(renderer.render(event)?.toString() ?? '').map(({ type }) => type),
    );
    expect(types).toEqual([
      ['message_start', 'content_block_start'],
      ['content_block_delta'],
      ['content_block_delta'],
      ['content_block_stop', 'content_block_start'],
      ['content_block_delta'],
    ]);
  });

  it('begins with an estimate, or with what the vendor has counted by then', () => {
    const startOf = (events: CanonicalEvent[]): unknown => streamOf(events)[0]?.message;
    expect(startOf([text('a')])).toMatchObject({
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 0 },
    });
    expect(startOf([{ type: 'usage', usage: settled.usage }, text('a')])).toMatchObject({
      usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 0 },
    });
  });

  it('relays bytes untouched, and adds nothing but the end', () => {
    const renderer = newRenderer();
    const event = relay();
    expect(renderer.render(opening)).toBeUndefined();
    expect(renderer.render(event)).toBe((event as { bytes: Buffer }).bytes);
    expect(renderer.render(settled)).toBeUndefined();
    expect(renderer.end()).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n');
  });

  it('tells a failure as one last event', () => {
    expect(parseMessageEvents(newRenderer().error(new ProviderError('It broke\noff.')))).toEqual([
      {
        type: 'error',
        error: { message: 'It broke\noff.', type: 'provider_error', code: 502, param: 'model' },
      },
    ]);
  });
});

describe(renderMessage.name, () => {
  const bytes = Buffer.from('{ "id":"msg_1", "usage":null, "new": 1 }');

  it('relays bytes untouched', async () => {
    expect(await bytesOf([relay({ bytes, usage: NO_USAGE })])).toBe(bytes.toString());
  });

  it('shows what is charged where the vendor gave no usage', async () => {
    expect(await wholeOf([relay({ bytes })])).toEqual({ id: 'msg_1', new: 1, usage });
  });
});
