import { describe, expect, it } from '@jest/globals';
import { replayOf } from './replay';

describe(replayOf.name, () => {
  it('builds a conversation from logged content and lists missing files', () => {
    const text = (content: string) => ({ type: 'text', content });
    const replay = replayOf({
      instructions: [text('Be brief.')],
      messages: [
        { role: 'system', parts: [text('And kind.')] },
        { role: 'user', parts: [text('Look'), { type: 'blob', mime_type: 'image/png' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'tool_call', id: 'c1', name: 'look', arguments: '{}' },
            { type: 'tool_call', id: 'c2', name: 'look', arguments: '{}' },
          ],
        },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'a cat' }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c2', response: 'a dog' }] },
        { role: 'user', parts: [text('And now?')] },
      ],
    });
    expect(replay.system).toBe('Be brief.\n\nAnd kind.');
    expect(replay.missing).toEqual(['image/png']);
    expect(replay.turns).toMatchObject([
      { role: 'user', text: 'Look' },
      { role: 'assistant', toolCalls: [{ id: 'c1', name: 'look' }, { id: 'c2' }] },
      {
        role: 'tool',
        results: [
          { id: 'c1', text: 'a cat' },
          { id: 'c2', text: 'a dog' },
        ],
      },
      { role: 'user', text: 'And now?' },
    ]);
  });
});
