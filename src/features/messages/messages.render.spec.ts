import { describe, expect, it } from '@jest/globals';
import { parseMessageEvents } from '../../../test/support/message-events.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { ProviderError } from '../../platform/errors/gateway-errors.js';
import { MessagesStreamRenderer, renderMessage } from './messages.render.js';
import {
  opening,
  settled,
  usage,
  relay,
  text,
  call,
  args,
  finish,
  newRenderer,
  streamOf,
  bytesOf,
  wholeOf,
  bothOf,
  contentOf,
} from '../../../test/support/rendered-messages.js';

describe('message rendering', () => {
  it('has every field, streamed and whole', async () => {
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
  ])('maps the finish reason of %j', async (end, stop_reason, stop_sequence) => {
    expect(await bothOf([text('x'), end])).toMatchObject({ stop_reason, stop_sequence });
  });

  it('returns tool_use when a vendor reports stop for a tool call', async () => {
    const events = [call(0), args(0, '{}')];
    expect(await bothOf([...events, finish('stop')])).toMatchObject({ stop_reason: 'tool_use' });
    expect(await bothOf([...events, finish('length')])).toMatchObject({
      stop_reason: 'max_tokens',
    });
  });

  it('accepts an answer without content or finish reason', async () => {
    expect(await bothOf([finish()])).toMatchObject({ content: [], stop_reason: 'end_turn' });
    expect(await bothOf([])).toMatchObject({ content: [], stop_reason: null });
    expect(await contentOf([text('')])).toEqual([]);
  });

  it('renders a refusal as text', async () => {
    const refusal: CanonicalEvent = { type: 'refusal', choice: 0, text: 'No.' };
    expect(await contentOf([refusal])).toEqual([{ type: 'text', text: 'No.' }]);
  });

  it('renders only the first choice', async () => {
    expect(await contentOf([text('a'), { type: 'text', choice: 1, text: 'b' }])).toEqual([
      { type: 'text', text: 'a' },
    ]);
  });
});

describe(MessagesStreamRenderer.name, () => {
  it("sends events in the dialect's order", () => {
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

  it('sends content before the charge and the last event after it', () => {
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

  it('streams the arguments of the first or only call immediately', () => {
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

  it("starts with an estimate, or the vendor's count so far", () => {
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

  it('relays bytes unchanged and adds only the last event', () => {
    const renderer = newRenderer();
    const event = relay();
    expect(renderer.render(opening)).toBeUndefined();
    expect(renderer.render(event)).toBe((event as { bytes: Buffer }).bytes);
    expect(renderer.render(settled)).toBeUndefined();
    expect(renderer.end()).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n');
  });

  it('reports a failure as the last event', () => {
    expect(parseMessageEvents(newRenderer().error(new ProviderError('It broke\noff.')))).toEqual([
      {
        type: 'error',
        error: { message: 'It broke\noff.', type: 'api_error', code: 502, param: 'model' },
      },
    ]);
  });
});

describe(renderMessage.name, () => {
  const bytes = Buffer.from('{ "id":"msg_1", "usage":null, "new": 1 }');

  it('relays bytes unchanged', async () => {
    expect(await bytesOf([relay({ bytes, usage: settled.usage })])).toBe(bytes.toString());
  });

  it('shows the charged usage when the vendor sent none', async () => {
    expect(await wholeOf([relay({ bytes })])).toEqual({ id: 'msg_1', new: 1, usage });
  });
});
