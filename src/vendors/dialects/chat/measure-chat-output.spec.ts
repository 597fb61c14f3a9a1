import { describe, expect, it } from '@jest/globals';
import { measureChatOutput } from './read-chat-usage.js';

describe(measureChatOutput.name, () => {
  it.each<[Record<string, unknown>, number]>([
    [{}, 0],
    [{ role: 'assistant', content: '' }, 0],
    [{ content: null, refusal: null, tool_calls: null, function_call: null }, 0],
    [{ content: 'größe' }, 5],
    [{ content: '日本🙂' }, 3],
    [{ content: '\ud83d' }, 1],
    [{ content: 5 }, 0],
    [{ refusal: 'no' }, 2],
    [{ reasoning_content: 'abc' }, 3],
    [{ reasoning: 'abc' }, 3],
    [{ reasoning: 'abc', reasoning_content: 'abc' }, 3],
    [{ content: 'a', reasoning: 'b', refusal: 'c' }, 3],
    [{ content: [{ type: 'text', text: 'ab' }, { type: 'image' }, null, 'x'] }, 2],
    [{ function_call: { name: 'f', arguments: '{}' } }, 3],
    [{ tool_calls: [{ id: 'abc', function: { name: 'f', arguments: '{}' } }] }, 3],
    [
      { tool_calls: [{ function: { arguments: '{"🙂"' } }, { custom: { name: 'g', input: 'x' } }] },
      6,
    ],
    [{ tool_calls: [null, 1, {}, { function: null }, { function: 'f' }] }, 0],
  ])('of %j', (message, characters) => {
    expect(measureChatOutput(message)).toBe(characters);
  });
});
