import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from './canonical-event.js';
import { collect } from './collect.js';
import { NO_USAGE } from './usage.js';
import type { BillableRoute } from './billable-route.js';

const route = { model: 'a/b', provider: 'a' } as BillableRoute;
const opening: CanonicalEvent = { type: 'route', route, droppedParams: ['seed'] };
const ending: CanonicalEvent = { type: 'settled', cost: 7, usage: NO_USAGE, usageSource: 'none' };

async function* eventsOf(...events: CanonicalEvent[]): AsyncGenerator<CanonicalEvent> {
  yield opening;
  yield* events;
  yield ending;
}

describe(collect.name, () => {
  it('joins text, reasoning and refusal of each choice', async () => {
    const answer = await collect(
      eventsOf(
        { type: 'start', id: 'x' },
        { type: 'text', choice: 1, text: 'b' },
        { type: 'reasoning', choice: 0, text: 'th' },
        { type: 'text', choice: 0, text: 'a' },
        { type: 'reasoning', choice: 0, text: 'ink' },
        { type: 'text', choice: 1, text: 'B' },
        { type: 'refusal', choice: 1, text: 'no' },
        { type: 'finish', choice: 1, reason: 'length' },
        { type: 'finish', choice: 0, reason: 'stop' },
        { type: 'usage', usage: NO_USAGE },
      ),
    );
    expect(answer).toEqual({
      route,
      droppedParams: ['seed'],
      relay: undefined,
      choices: [
        {
          text: 'a',
          reasoning: [{ text: 'think' }],
          refusal: '',
          toolCalls: [],
          logprobs: [],
          finishReason: 'stop',
          stopSequence: undefined,
        },
        {
          text: 'bB',
          reasoning: [],
          refusal: 'no',
          toolCalls: [],
          logprobs: [],
          finishReason: 'length',
          stopSequence: undefined,
        },
      ],
      settled: ending,
    });
  });

  it('keeps parallel tool calls separate, ordered by index', async () => {
    const { choices } = await collect(
      eventsOf(
        { type: 'tool_call', choice: 0, index: 1, id: 'two', name: 'g' },
        { type: 'tool_call', choice: 0, index: 0, id: 'one', name: 'f' },
        { type: 'tool_arguments', choice: 0, index: 1, text: '{"x"' },
        { type: 'tool_arguments', choice: 0, index: 0, text: '{}' },
        { type: 'tool_arguments', choice: 0, index: 1, text: ':1}' },
        { type: 'tool_arguments', choice: 0, index: 9, text: 'of no call' },
      ),
    );
    expect(choices[0]?.toolCalls).toEqual([
      { id: 'one', name: 'f', arguments: '{}' },
      { id: 'two', name: 'g', arguments: '{"x":1}' },
    ]);
  });

  it('ends a reasoning block with its signature, and keeps the signatures of calls', async () => {
    const { choices } = await collect(
      eventsOf(
        { type: 'reasoning', choice: 0, text: 'hm' },
        { type: 'reasoning', choice: 0, text: '', signature: 'a:1' },
        { type: 'reasoning', choice: 0, text: '', signature: 'a:2' },
        { type: 'reasoning', choice: 0, text: 'so' },
        { type: 'tool_call', choice: 0, index: 0, id: 'x', name: 'f', signature: 'a:3' },
        { type: 'finish', choice: 0, reason: 'stop', stopSequence: 'END' },
      ),
    );
    expect(choices[0]).toMatchObject({
      reasoning: [{ text: 'hm', signature: 'a:1' }, { text: '', signature: 'a:2' }, { text: 'so' }],
      toolCalls: [{ id: 'x', name: 'f', arguments: '', signature: 'a:3' }],
      stopSequence: 'END',
    });
  });

  it('collects log probabilities when present', async () => {
    const { choices } = await collect(
      eventsOf(
        { type: 'text', choice: 0, text: 'a', logprobs: { content: [1] } },
        { type: 'text', choice: 0, text: 'b', logprobs: null },
        { type: 'text', choice: 0, text: 'c' },
      ),
    );
    expect(choices[0]?.logprobs).toEqual([{ content: [1] }]);
  });

  it('keeps a relayed answer unchanged', async () => {
    const relay: CanonicalEvent = {
      type: 'relay',
      dialect: 'chat',
      bytes: Buffer.from('{}'),
      hasContent: true,
      outputCharacters: 2,
    };
    const answer = await collect(eventsOf(relay));
    expect(answer.relay).toBe(relay);
    expect(answer.choices).toEqual([]);
  });

  it('rethrows errors from the events', async () => {
    async function* failing(): AsyncGenerator<CanonicalEvent> {
      yield opening;
      throw new Error('connection reset');
    }
    await expect(collect(failing())).rejects.toThrow('connection reset');
  });

  it('rejects an answer without its settlement', async () => {
    async function* unsettled(): AsyncGenerator<CanonicalEvent> {
      yield opening;
    }
    await expect(collect(unsettled())).rejects.toThrow('without its route or settlement');
  });
});
