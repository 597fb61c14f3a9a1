import { describe, expect, it } from '@jest/globals';
import { withoutNamedSeals } from './encode-chat-request.js';

const QUESTION = { role: 'user', content: 'Hi' };

describe('withoutNamedSeals', () => {
  it('takes out what the gateway spelled of a sealed thought, and the text beside it', () => {
    const sealed = {
      role: 'assistant',
      content: 'Yes.',
      reasoning_content: 'Hm.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm.', signature: 'anthropic:c2VhbA==' },
        { type: 'reasoning.encrypted', data: 'bedrock-nova-redacted:c2VhbA==' },
        { type: 'reasoning.encrypted', id: 'call_1', data: 'google:c2VhbA==' },
      ],
    };
    expect(withoutNamedSeals([QUESTION, sealed])).toEqual([
      QUESTION,
      { role: 'assistant', content: 'Yes.' },
    ]);
  });

  it('keeps details that a vendor of this dialect gave', () => {
    const own = { type: 'reasoning.text', text: 'Hm.', signature: 'c2VhbA==' };
    const named = { type: 'reasoning.text', text: 'Hm.', signature: 'google:c2VhbA==' };
    const message = { role: 'assistant', content: 'Yes.', reasoning_details: [own, named] };
    expect(withoutNamedSeals([message])).toEqual([{ ...message, reasoning_details: [own] }]);
  });

  it.each([
    ['no reasoning', [QUESTION]],
    ['a text alone', [{ role: 'assistant', content: 'Yes.', reasoning_content: 'google: it' }]],
    ['an own seal', [{ role: 'assistant', reasoning_details: [{ signature: 'c2VhbA==' }] }]],
    ['details that are none', [{ role: 'assistant', reasoning_details: [null, 'google:x', {}] }]],
    ['something else than details', [{ role: 'assistant', reasoning_details: 'google:x' }]],
    ['no messages', undefined],
  ])('has nothing to do for %s', (_what, messages) => {
    expect(withoutNamedSeals(messages)).toBeUndefined();
  });
});
