import { describe, expect, it } from '@jest/globals';
import { messagesRequest } from '../../../test/support/messages-requests.js';
import type { PromptSize } from '../../canonical/canonical-request.js';
import { TOKENS_PER_MESSAGE } from '../../canonical/prompt-size.js';
import { measureMessagesPrompt } from './measure-messages-prompt.js';

const sizeOf = (fields: Record<string, unknown>): PromptSize => messagesRequest(fields).promptSize;
const contentSize = (content: unknown, role = 'user'): PromptSize =>
  sizeOf({ messages: [{ role, content }] });
const text = 'x'.repeat(300);
const TEXT_TOKENS = 100 + TOKENS_PER_MESSAGE;

describe(measureMessagesPrompt.name, () => {
  it.each<{ of: string; content: unknown; role?: string }>([
    { of: 'a string', content: text },
    { of: 'a text block', content: [{ type: 'text', text }] },
    {
      of: 'a tool result',
      content: [{ type: 'tool_result', tool_use_id: 'a', content: text }],
    },
    {
      of: 'blocks in a tool result',
      content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text }] }],
    },
    {
      of: 'a text document',
      content: [{ type: 'document', source: { type: 'text', data: text } }],
    },
    {
      of: 'a document of blocks',
      content: [{ type: 'document', source: { type: 'content', content: text } }],
    },
    {
      of: 'reasoning',
      content: [{ type: 'thinking', thinking: text, signature: '' }],
      role: 'assistant',
    },
    {
      of: 'a tool call',
      content: [{ type: 'tool_use', id: 'a', name: 'x'.repeat(291), input: { a: 123 } }],
      role: 'assistant',
    },
  ])('counts the text of $of', ({ content, role }) => {
    expect(contentSize(content, role)).toEqual({
      tokens: TEXT_TOKENS,
      characters: 300,
      images: 0,
      pages: 0,
      audioSeconds: 0,
    });
  });

  it('counts the system prompt as a message', () => {
    const { tokens } = sizeOf({ messages: [{ role: 'user', content: '' }] });
    expect(sizeOf({ system: text, messages: [{ role: 'user', content: '' }] }).tokens).toBe(
      tokens + TEXT_TOKENS,
    );
  });

  it('counts tools and the format by the length of their JSON', () => {
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    const output_config = { format: { type: 'json_schema', schema: {} } };
    const length = JSON.stringify(tools).length + JSON.stringify(output_config).length;
    expect(sizeOf({ tools, output_config }).characters).toBe(2 + length);
  });

  it('counts images and files by number, not by base64 length', () => {
    const data = 'A'.repeat(160_000);
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
    expect(contentSize([image, image])).toEqual({
      tokens: TOKENS_PER_MESSAGE,
      characters: 0,
      images: 2,
      pages: 0,
      audioSeconds: 0,
    });
    const source = { type: 'base64', media_type: 'application/pdf', data };
    const size = contentSize([{ type: 'document', source }]);
    expect(size).toMatchObject({ tokens: TOKENS_PER_MESSAGE, characters: 0, pages: 40 });
    const elsewhere = { type: 'url', url: 'https://a.b/c.pdf' };
    expect(contentSize([{ type: 'document', source: elsewhere }])).toMatchObject({ pages: 100 });
  });

  it('bounds encrypted content by its length', () => {
    const block = { type: 'redacted_thinking', data: 'A'.repeat(300) };
    expect(contentSize([block], 'assistant')).toMatchObject({ tokens: TEXT_TOKENS, characters: 0 });
  });
});
