import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent, SettledEvent } from '../../canonical/canonical-event.js';
import { collect } from '../../canonical/collect.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { ProviderError } from '../../platform/errors/gateway-errors.js';
import { ChatStreamRenderer, renderChatCompletion } from './chat.render.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

const requestId = '0f8fad5b-d9cb-469f-a165-70867728950e';
const id = 'chatcmpl-0f8fad5bd9cb469fa16570867728950e';
const options = { requestId, created: 1_700_000_000, includeUsage: false };
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
    reasoningTokens: 2,
  },
  usageSource: 'upstream',
};
const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const relay = (fields: object = {}): CanonicalEvent => ({
  type: 'relay',
  dialect: 'chat',
  bytes: Buffer.from('data: {}\n\n'),
  hasContent: true,
  outputCharacters: 1,
  ...fields,
});

interface Chunk {
  id: string;
  model: string;
  choices: { index: number; delta: object; finish_reason: string | null; logprobs: unknown }[];
  usage?: unknown;
}

/** The chunks that the events become, each with the line that it came on checked. */
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
  it('spells text as chunks of one answer', () => {
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

  it("uses the vendor's id where it gives one", () => {
    const [chunk] = chunksOf([
      opening,
      { type: 'start', id: 'chatcmpl-vendor' },
      { type: 'text', choice: 0, text: 'x' },
    ]);
    expect(chunk?.id).toBe('chatcmpl-vendor');
  });

  it('names the role once per choice', () => {
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

  it('keeps the indexes of parallel tool calls', () => {
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

  it('gives the usage chunk last, to who asked for it', () => {
    const events: CanonicalEvent[] = [
      opening,
      { type: 'finish', choice: 0, reason: 'stop' },
      settled,
    ];
    expect(chunksOf(events, false)).toHaveLength(1);
    expect(chunksOf(events, true).at(-1)).toMatchObject({ choices: [], usage });
  });

  it("passes a relayed piece on as it is, and the vendor's usage chunk in place of its own", () => {
    const renderer = new ChatStreamRenderer({ ...options, includeUsage: true });
    renderer.render(opening);
    const event = relay({ usage: settled.usage }) as CanonicalEvent & { bytes: Buffer };
    expect(renderer.render(event)).toBe(event.bytes);
    expect(renderer.render(settled)).toBeUndefined();
  });

  it('adds the usage chunk where the vendor gave none', () => {
    const chunks = chunksOf([opening, { type: 'start', id: 'v' }, relay(), settled], true);
    expect(chunks.at(-1)).toMatchObject({ id: 'v', model: 'a/b', choices: [], usage });
  });

  it('says in-band what went wrong', () => {
    const renderer = new ChatStreamRenderer(options);
    renderer.render(opening);
    renderer.render({ type: 'text', choice: 0, text: 'x' });
    const text = renderer.error(new ProviderError('It broke off.'));
    expect(text).toMatch(/^data: \{"error":\{/);
    expect(JSON.parse(text.slice('data: '.length))).toEqual({
      id,
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'a/b',
      choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      error: { message: 'It broke off.', type: 'provider_error', code: 502, param: 'model' },
    });
    expect(text).toMatch(/^data: [^\n]+\n\n$/);
  });

  it('names what was asked for where no route has answered', () => {
    const renderer = new ChatStreamRenderer({ ...options, model: 'c/d' });
    const text = renderer.error(new ProviderError('Nobody answered.'));
    expect(JSON.parse(text.slice('data: '.length))).toMatchObject({ model: 'c/d' });
    renderer.render(opening);
    expect(renderer.error(new ProviderError('It broke off.'))).toContain('"model":"a/b"');
  });

  it('ends with [DONE]', () => {
    expect(new ChatStreamRenderer(options).end()).toBe('data: [DONE]\n\n');
  });

  it('spells every kind of piece, the first of which names the role', () => {
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

  it('keeps one line per event whatever the text is', () => {
    const text = 'a\r\n\r\nb\n\ndata: [DONE]\n\n\u0000\ud800\u2028🙂';
    const [chunk] = chunksOf([opening, { type: 'text', choice: 0, text }]);
    expect(chunk?.choices[0]?.delta).toEqual({ role: 'assistant', content: text });
  });

  it('shows all that is signed at the end and at once, for clients that keep the last value', () => {
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

describe(renderChatCompletion.name, () => {
  async function render(...events: CanonicalEvent[]): Promise<Record<string, unknown>> {
    async function* all(): AsyncGenerator<CanonicalEvent> {
      yield opening;
      yield* events;
      yield settled;
    }
    const bytes = renderChatCompletion(await collect(all()), options);
    return JSON.parse(bytes.toString()) as Record<string, unknown>;
  }

  it('spells an answer of several choices', async () => {
    expect(
      await render(
        { type: 'text', choice: 0, text: 'Hello' },
        { type: 'finish', choice: 0, reason: 'stop' },
        { type: 'reasoning', choice: 1, text: 'hm' },
        { type: 'text', choice: 1, text: 'Hi' },
        { type: 'finish', choice: 1, reason: 'length' },
      ),
    ).toEqual({
      id,
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'a/b',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
        {
          index: 1,
          message: { role: 'assistant', content: 'Hi', refusal: null, reasoning_content: 'hm' },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
      usage,
      system_fingerprint: null,
    });
  });

  it('gives null for the content of tool calls and refusals alone', async () => {
    const calls = await render(
      { type: 'tool_call', choice: 0, index: 0, id: 'one', name: 'f' },
      { type: 'tool_arguments', choice: 0, index: 0, text: '{}' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
      { type: 'refusal', choice: 1, text: 'no' },
      { type: 'finish', choice: 1, reason: 'stop' },
      { type: 'finish', choice: 2, reason: 'length' },
    );
    expect(calls.choices).toMatchObject([
      {
        message: {
          content: null,
          tool_calls: [{ id: 'one', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
      { message: { content: null, refusal: 'no' }, finish_reason: 'stop' },
      { message: { content: '' }, finish_reason: 'length' },
    ]);
  });

  it('joins the log probabilities', async () => {
    const { choices } = await render(
      { type: 'text', choice: 0, text: 'a', logprobs: { content: [{ token: 'a' }] } },
      { type: 'text', choice: 0, text: 'b', logprobs: null },
      { type: 'text', choice: 0, text: 'c', logprobs: { content: [{ token: 'c' }] } },
      { type: 'finish', choice: 0, reason: 'stop' },
    );
    expect(choices).toMatchObject([{ logprobs: { content: [{ token: 'a' }, { token: 'c' }] } }]);
  });

  it('passes a relayed answer on byte for byte', async () => {
    const bytes = Buffer.from('{"id" : "v", "usage":{"prompt_tokens":1}}');
    expect(await render(relay({ bytes, usage: settled.usage }))).toEqual(
      JSON.parse(bytes.toString()),
    );
  });

  it.each(['{"id":"v"}', '{"id":"v","usage":null}', '{"usage":{"prompt_tokens":0},"id":"v"}'])(
    'shows what is charged where the vendor gave no usage: %s',
    async (text) => {
      expect(await render(relay({ bytes: Buffer.from(text) }))).toEqual({ id: 'v', usage });
    },
  );
});
