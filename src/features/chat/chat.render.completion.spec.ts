import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { collect } from '../../canonical/collect.js';
import { renderChatCompletion } from './chat.render.js';
import {
  id,
  options,
  opening,
  settled,
  usage,
  relay,
} from '../../../test/support/chat-answer-events.js';

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

  it('renders an answer with several choices', async () => {
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

  it('renders null content for an answer of only tool calls or a refusal', async () => {
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

  it('merges log probabilities', async () => {
    const { choices } = await render(
      { type: 'text', choice: 0, text: 'a', logprobs: { content: [{ token: 'a' }] } },
      { type: 'text', choice: 0, text: 'b', logprobs: null },
      { type: 'text', choice: 0, text: 'c', logprobs: { content: [{ token: 'c' }] } },
      { type: 'finish', choice: 0, reason: 'stop' },
    );
    expect(choices).toMatchObject([{ logprobs: { content: [{ token: 'a' }, { token: 'c' }] } }]);
  });

  it('returns a relayed answer byte for byte', async () => {
    const bytes = Buffer.from('{"id" : "v", "usage":{"prompt_tokens":1}}');
    expect(await render(relay({ bytes, usage: settled.usage }))).toEqual(
      JSON.parse(bytes.toString()),
    );
  });

  it.each(['{"id":"v"}', '{"id":"v","usage":null}', '{"usage":{"prompt_tokens":0},"id":"v"}'])(
    'shows the charged usage when the vendor sent none: %s',
    async (text) => {
      expect(await render(relay({ bytes: Buffer.from(text) }))).toEqual({ id: 'v', usage });
    },
  );
});
