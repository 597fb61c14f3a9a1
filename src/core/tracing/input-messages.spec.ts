import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { messagesRequest } from '../../../test/support/messages-requests.js';
import { responsesRequest } from '../../../test/support/responses-requests.js';
import { traceInput } from './input-messages.js';
import { TextBudget } from './trace-message.js';

const INSTRUCTION = [{ type: 'text', content: 'Be brief.' }];
const QUESTION = { role: 'user', parts: [{ type: 'text', content: 'Hi.' }] };

describe('traceInput', () => {
  it.each([
    [
      'messages',
      messagesRequest({ system: 'Be brief.', messages: [{ role: 'user', content: 'Hi.' }] }),
    ],
    ['responses', responsesRequest({ instructions: 'Be brief.', input: 'Hi.' })],
  ])('separates the instructions that %s have in their own field', (_, request) => {
    expect(traceInput(request, new TextBudget())).toEqual({
      instructions: INSTRUCTION,
      messages: [QUESTION],
    });
  });

  it('keeps a system message in the conversation', () => {
    const system = { role: 'system', content: 'Be brief.' };
    const messages = [{ role: 'system', parts: INSTRUCTION }, QUESTION];
    const requests = [
      chatRequest({ messages: [system, { role: 'user', content: 'Hi.' }] }),
      responsesRequest({ input: [system, { role: 'user', content: 'Hi.' }] }),
    ];
    for (const request of requests) {
      expect(traceInput(request, new TextBudget())).toEqual({ instructions: [], messages });
    }
  });

  it('keeps the instructions of a conversation that is too long', () => {
    const messages = Array.from({ length: 1_001 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${index}`,
    }));
    const budget = new TextBudget();
    const input = traceInput(messagesRequest({ system: 'Be brief.', messages }), budget);
    expect(input.instructions).toEqual(INSTRUCTION);
    expect(input.messages).toHaveLength(1_000);
    expect(budget.isSpent).toBe(true);
  });
});
