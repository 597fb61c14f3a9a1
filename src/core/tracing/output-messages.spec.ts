import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent, RelayEvent } from '../../canonical/canonical-event.js';
import type { Dialect } from '../../canonical/canonical-request.js';
import { outputMessages } from './output-messages.js';
import { TextBudget } from './trace-message.js';

function relay(dialect: Dialect, text: string, fields: Partial<RelayEvent> = {}): RelayEvent {
  const bytes = Buffer.from(text);
  return { type: 'relay', dialect, bytes, hasContent: true, outputCharacters: 0, ...fields };
}

const read = (events: CanonicalEvent[], streamed = false, budget = new TextBudget()) =>
  outputMessages(events, streamed, budget);

describe(outputMessages.name, () => {
  it('collects texts, reasoning and calls by choice', () => {
    const messages = read([
      { type: 'reasoning', choice: 0, text: 'hm' },
      { type: 'text', choice: 0, text: 'Hel' },
      { type: 'text', choice: 1, text: 'Hi' },
      { type: 'text', choice: 0, text: 'lo' },
      { type: 'tool_call', choice: 0, index: 0, id: 'c', name: 'f' },
      { type: 'tool_arguments', choice: 0, index: 0, text: '{}' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
    ]);
    expect(messages).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'hm' },
          { type: 'text', content: 'Hello' },
          { type: 'tool_call', id: 'c', name: 'f', arguments: '{}' },
        ],
        finish_reason: 'tool_call',
      },
      { role: 'assistant', parts: [{ type: 'text', content: 'Hi' }], finish_reason: 'error' },
    ]);
  });

  const answer = {
    id: 'a',
    choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }],
  };
  const message = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }];
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

  it.each<[string, RelayEvent[], boolean]>([
    ['a chat completion', [relay('chat', JSON.stringify(answer))], false],
    [
      'a chat stream in pieces',
      [
        relay('chat', chunk({ content: 'Hel' })),
        relay('chat', chunk({ content: 'lo' }) + chunk({}, 'stop')),
      ],
      true,
    ],
    ['a message', [relay('messages', JSON.stringify(message))], false],
    ['a response', [relay('responses', JSON.stringify({ output }))], false],
    ['a response stream', [relay('responses', 'event: …', { answer: { output } })], true],
  ])('reads relayed %s', (_name, events, streamed) => {
    expect(read(events, streamed)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'text', content: 'Hello' }] },
    ]);
  });

  it.each(['{}', 'text', '{"choices":1}'])('reads nothing from %s', (text) => {
    for (const dialect of ['chat', 'messages', 'responses'] as const) {
      expect(read([relay(dialect, text)])).toEqual([]);
      expect(read([relay(dialect, text)], true)).toEqual([]);
    }
  });

  it('uses the finish reason of an answer without an end', () => {
    const cut: CanonicalEvent[] = [{ type: 'text', choice: 0, text: 'Hello' }];
    const response = [relay('responses', JSON.stringify({ output }))];
    for (const events of [cut, response]) {
      const messages = outputMessages(events, false, new TextBudget(), ['stop']);
      expect(messages).toMatchObject([{ finish_reason: 'stop' }]);
    }
  });

  it('cuts texts at the limit and reports it', () => {
    const budget = new TextBudget(7);
    const [first] = read([{ type: 'text', choice: 0, text: 'Hello world' }], false, budget);
    expect(first!.parts).toEqual([{ type: 'text', content: 'Hello w' }]);
    expect(budget.isSpent).toBe(true);
  });
});
