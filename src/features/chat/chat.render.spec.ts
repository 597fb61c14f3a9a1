import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { ProviderError } from '../../platform/errors/gateway-errors.js';
import { ChatStreamRenderer } from './chat.render.js';
import {
  id,
  options,
  opening,
  settled,
  usage,
  relay,
} from '../../../test/support/chat-answer-events.js';

interface Chunk {
  id: string;
  model: string;
  choices: { index: number; delta: object; finish_reason: string | null; logprobs: unknown }[];
  usage?: unknown;
}

/** Renders events as chunks. */
function chunksOf(events: CanonicalEvent[], includeUsage = false): Chunk[] {
  const renderer = new ChatStreamRenderer({ ...options, includeUsage });
  return events.flatMap((event) => {
    const line = renderer.render(event);
    if (line === undefined) return [];
    const [, json = ''] = /^data: ([^\n\r]*)\n\n$/.exec(line.toString()) ?? [];
    return JSON.parse(json) as Chunk;
  });
}

const deltasOf = (events: CanonicalEvent[]) =>
  chunksOf(events).map(({ choices }) => choices.map(({ index, delta }) => ({ index, ...delta })));

describe(ChatStreamRenderer.name, () => {
  it('renders text as chunks of one answer', () => {
    const chunks = chunksOf([
      opening,
      { type: 'start' },
      { type: 'text', choice: 0, text: 'He' },
      { type: 'text', choice: 0, text: 'llo', logprobs: { content: [] } },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'usage', usage: settled.usage },
      settled,
    ]);
    const frame = { id, object: 'chat.completion.chunk', created: 1_700_000_000, model: 'a/b' };
    expect(chunks).toEqual([
      {
        ...frame,
        choices: [
          {
            index: 0,
            delta: { role: 'assistant', content: 'He' },
            logprobs: null,
            finish_reason: null,
          },
        ],
      },
      {
        ...frame,
        choices: [
          { index: 0, delta: { content: 'llo' }, logprobs: { content: [] }, finish_reason: null },
        ],
      },
      {
        ...frame,
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }],
      },
    ]);
  });

  it("uses the vendor's id when present", () => {
    const [chunk] = chunksOf([
      opening,
      { type: 'start', id: 'chatcmpl-vendor' },
      { type: 'text', choice: 0, text: 'x' },
    ]);
    expect(chunk?.id).toBe('chatcmpl-vendor');
  });

  it('sends the role once per choice', () => {
    expect(
      deltasOf([
        opening,
        { type: 'reasoning', choice: 1, text: 'hm' },
        { type: 'text', choice: 0, text: 'a' },
        { type: 'refusal', choice: 1, text: 'no' },
        { type: 'finish', choice: 2, reason: 'stop' },
      ]),
    ).toEqual([
      [{ index: 1, role: 'assistant', content: null, reasoning_content: 'hm' }],
      [{ index: 0, role: 'assistant', content: 'a' }],
      [{ index: 1, refusal: 'no' }],
      [{ index: 2, role: 'assistant', content: null }],
    ]);
  });

  it('preserves the indexes of parallel tool calls', () => {
    expect(
      deltasOf([
        opening,
        { type: 'tool_call', choice: 0, index: 0, id: 'one', name: 'f' },
        { type: 'tool_call', choice: 0, index: 1, id: 'two', name: 'g' },
        { type: 'tool_arguments', choice: 0, index: 1, text: '{"x":' },
        { type: 'tool_arguments', choice: 0, index: 0, text: '{}' },
        { type: 'tool_arguments', choice: 0, index: 1, text: '1}' },
        { type: 'finish', choice: 0, reason: 'tool_calls' },
      ]).flat(),
    ).toEqual([
      {
        index: 0,
        role: 'assistant',
        content: null,
        tool_calls: [
          { index: 0, id: 'one', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      },
      {
        index: 0,
        tool_calls: [
          { index: 1, id: 'two', type: 'function', function: { name: 'g', arguments: '' } },
        ],
      },
      { index: 0, tool_calls: [{ index: 1, function: { arguments: '{"x":' } }] },
      { index: 0, tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { index: 0, tool_calls: [{ index: 1, function: { arguments: '1}' } }] },
      { index: 0 },
    ]);
  });

  it('sends the usage chunk last, on request only', () => {
    const events: CanonicalEvent[] = [
      opening,
      { type: 'finish', choice: 0, reason: 'stop' },
      settled,
    ];
    expect(chunksOf(events, false)).toHaveLength(1);
    expect(chunksOf(events, true).at(-1)).toMatchObject({ choices: [], usage });
  });

  it("relays pieces unchanged and keeps the vendor's usage chunk", () => {
    const renderer = new ChatStreamRenderer({ ...options, includeUsage: true });
    renderer.render(opening);
    const event = relay({ usage: settled.usage }) as CanonicalEvent & { bytes: Buffer };
    expect(renderer.render(event)).toBe(event.bytes);
    expect(renderer.render(settled)).toBeUndefined();
  });

  it('adds a usage chunk when the vendor sent none', () => {
    const chunks = chunksOf([opening, { type: 'start', id: 'v' }, relay(), settled], true);
    expect(chunks.at(-1)).toMatchObject({ id: 'v', model: 'a/b', choices: [], usage });
  });

  it('reports a failure in-band', () => {
    const renderer = new ChatStreamRenderer(options);
    renderer.render(opening);
    renderer.render({ type: 'text', choice: 0, text: 'x' });
    const text = renderer.error(new ProviderError('The answer was interrupted.'));
    expect(text).toMatch(/^data: \{"error":\{/);
    expect(JSON.parse(text.slice('data: '.length))).toEqual({
      id,
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'a/b',
      choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      error: {
        message: 'The answer was interrupted.',
        type: 'provider_error',
        code: 502,
        param: 'model',
      },
    });
    expect(text).toMatch(/^data: [^\n]+\n\n$/);
  });

  it('names the requested model when no route has answered', () => {
    const renderer = new ChatStreamRenderer({ ...options, model: 'c/d' });
    const text = renderer.error(new ProviderError('No route answered.'));
    expect(JSON.parse(text.slice('data: '.length))).toMatchObject({ model: 'c/d' });
    renderer.render(opening);
    expect(renderer.error(new ProviderError('The answer was interrupted.'))).toContain(
      '"model":"a/b"',
    );
  });

  it('ends with [DONE]', () => {
    expect(new ChatStreamRenderer(options).end()).toBe('data: [DONE]\n\n');
  });

  it('renders every event type and sends the role first', () => {
    const text = 'a"b\\\r\n\n\u0000\ud800\u2028🙂';
    const pieces: [CanonicalEvent, object][] = [
      [{ type: 'refusal', choice: 0, text }, { refusal: text }],
      [{ type: 'reasoning', choice: 0, text }, { reasoning_content: text }],
      [
        { type: 'tool_arguments', choice: 0, index: 3, text },
        { tool_calls: [{ index: 3, function: { arguments: text } }] },
      ],
      [{ type: 'finish', choice: 0, reason: text }, {}],
    ];
    for (const [event, delta] of pieces) {
      const [first, second] = chunksOf([opening, event, event]);
      const opened = { role: 'assistant', content: null, ...delta };
      expect(first?.choices[0]?.delta).toEqual(opened);
      expect(second?.choices[0]?.delta).toEqual(delta);
      const finishReason = event.type === 'finish' ? text : null;
      expect(second?.choices[0]).toMatchObject({ index: 0, finish_reason: finishReason });
    }
  });

  it('sends one line per event, whatever the text contains', () => {
    const text = 'a\r\n\r\nb\n\ndata: [DONE]\n\n\u0000\ud800\u2028🙂';
    const [chunk] = chunksOf([opening, { type: 'text', choice: 0, text }]);
    expect(chunk?.choices[0]?.delta).toEqual({ role: 'assistant', content: text });
  });

  it('sends all signed details in the last delta, for clients that keep the last value', () => {
    const choice = 0;
    const events: CanonicalEvent[] = [
      opening,
      { type: 'reasoning', choice, text: 'Hm' },
      { type: 'reasoning', choice, text: '.' },
      { type: 'reasoning', choice, text: '', signature: 'maker:one' },
      { type: 'reasoning', choice, text: '', signature: 'maker:two' },
      { type: 'text', choice, text: 'Yes.' },
      { type: 'tool_call', choice, index: 0, id: 'c1', name: 'f', signature: 'maker:three' },
      { type: 'finish', choice, reason: 'tool_calls' },
    ];
    const definition = { name: 'f', arguments: '' };
    expect(deltasOf(events).flat()).toEqual([
      { index: 0, role: 'assistant', content: null, reasoning_content: 'Hm' },
      { index: 0, reasoning_content: '.' },
      { index: 0, content: 'Yes.' },
      { index: 0, tool_calls: [{ index: 0, id: 'c1', type: 'function', function: definition }] },
      {
        index: 0,
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm.', signature: 'maker:one' },
          { type: 'reasoning.encrypted', data: 'maker:two' },
          expect.objectContaining({ id: 'c1', data: 'maker:three' }),
        ],
      },
    ]);
  });
});
