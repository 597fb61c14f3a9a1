import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { converseTraits } from '../../../../test/support/converse-traits.js';
import type { CanonicalMessage } from '../../../canonical/canonical-request.js';
import type { PromptMedia } from '../fetch-prompt-media.js';
import { converseMessages, type ConverseMessagesOptions } from './converse-messages.js';

const options = (overrides: Partial<ConverseMessagesOptions> = {}): ConverseMessagesOptions => ({
  traits: converseTraits(),
  media: new Map(),
  param: 'messages',
  hasTools: true,
  ...overrides,
});

const encode = (messages: unknown[], overrides: Partial<ConverseMessagesOptions> = {}) =>
  converseMessages(chatRequest({ messages }).prompt(), options(overrides));

const encodeCanonical = (
  messages: CanonicalMessage[],
  overrides: Partial<ConverseMessagesOptions> = {},
) => converseMessages({ messages }, options(overrides));

const user = (content: unknown) => ({ role: 'user', content });
const call = (id: string, args = '{}', name = 'look_up') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const refused = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('was not rejected');
};

describe(converseMessages.name, () => {
  it('separates system messages from any position', () => {
    expect(
      encode([
        { role: 'system', content: 'Be brief.' },
        user('Hi'),
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
      ]),
    ).toEqual({
      system: [{ text: 'Be brief.' }, { text: 'Be kind.' }],
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
    });
  });

  it('sends the instructions as the question when there is nothing else', () => {
    expect(encode([{ role: 'system', content: 'Say hello.' }])).toEqual({
      system: [],
      messages: [{ role: 'user', content: [{ text: 'Say hello.' }] }],
    });
  });

  it('merges consecutive messages of one role', () => {
    expect(
      encode([
        user('One'),
        user([{ type: 'text', text: 'Two' }]),
        { role: 'assistant', content: 'Three' },
        { role: 'assistant', content: null, refusal: 'No four' },
      ]).messages,
    ).toEqual([
      { role: 'user', content: [{ text: 'One' }, { text: 'Two' }] },
      { role: 'assistant', content: [{ text: 'Three' }, { text: 'No four' }] },
    ]);
  });

  it('omits blank texts and turns with nothing else', () => {
    expect(
      encode([user('One'), { role: 'assistant', content: ' \n' }, user(' '), user('Two')]).messages,
    ).toEqual([{ role: 'user', content: [{ text: 'One' }, { text: 'Two' }] }]);
  });

  it.each([
    ['starts with the assistant', [{ role: 'assistant', content: 'Hi' }, user('Hi')]],
    ['is empty', [user('  ')]],
  ])('rejects a conversation that %s', (problem, messages) => {
    expect(refused(() => encode(messages))).toMatchObject({
      failure: 'unsupported',
      param: 'messages',
      message: expect.stringContaining(problem),
    });
  });

  it('puts parallel tool results into one turn, before the user text', () => {
    const { messages } = encode([
      user('Compare.'),
      { role: 'assistant', content: 'I look.', tool_calls: [call('a', '{"x":1}'), call('b', '')] },
      user('And hurry.'),
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }] },
    ]);
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { text: 'I look.' },
          { toolUse: { toolUseId: 'a', name: 'look_up', input: { x: 1 } } },
          { toolUse: { toolUseId: 'b', name: 'look_up', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'a', content: [{ text: 'one' }] } },
          { toolResult: { toolUseId: 'b', content: [{ text: 'two' }] } },
          { text: 'And hurry.' },
        ],
      },
    ]);
  });

  it('uses the same id for a call and its result, whatever it was', () => {
    const id = 'call.with/odd:characters';
    const { messages } = encode([
      user('Hi'),
      { role: 'assistant', tool_calls: [call(id)] },
      { role: 'tool', tool_call_id: id, content: 'x' },
    ]);
    const used = (messages[1]!.content[0] as { toolUse: { toolUseId: string } }).toolUse.toolUseId;
    expect(used).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(messages[2]!.content[0]).toMatchObject({ toolResult: { toolUseId: used } });
  });

  it('marks a failed tool result for models that support it', () => {
    const messages: CanonicalMessage[] = [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'tool', parts: [{ type: 'tool_result', toolCallId: 'a', parts: [], isError: true }] },
    ];
    const result = { toolUseId: 'a', content: [{ text: '(empty)' }] };
    const marked = encodeCanonical(messages).messages[0]!.content[0];
    expect(marked).toEqual({ toolResult: { ...result, status: 'error' } });
    const traits = converseTraits({ toolResultStatus: false });
    const bare = encodeCanonical(messages, { traits }).messages[0]!.content[0];
    expect(bare).toEqual({ toolResult: result });
  });

  it.each(['{"x":', '[1]', '"x"', 'null', 'x'])(
    'rejects arguments of an earlier call that are not a JSON object: %s',
    (args) => {
      const messages = [user('Hi'), { role: 'assistant', tool_calls: [call('a', args)] }];
      expect(refused(() => encode(messages))).toMatchObject({
        failure: 'unsupported',
        param: 'messages',
      });
    },
  );

  it('describes tool calls in text when no tools are offered, and drops the reasoning around them', () => {
    const messages: CanonicalMessage[] = [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.', signature: 'maker:sig' },
          { type: 'tool_call', id: 'a', name: 'look_up', arguments: '{"x":' },
        ],
      },
      {
        role: 'tool',
        parts: [
          { type: 'tool_result', toolCallId: 'a', parts: [{ type: 'text', text: 'one' }] },
          { type: 'tool_result', toolCallId: 'b', parts: [], isError: true },
        ],
      },
    ];
    expect(encodeCanonical(messages, { hasTools: false }).messages).toEqual([
      { role: 'user', content: [{ text: 'Hi' }] },
      { role: 'assistant', content: [{ text: 'Called the tool look_up with {"x":' }] },
      {
        role: 'user',
        content: [
          { text: 'Result of the tool look_up:' },
          { text: 'one' },
          { text: 'Error of the tool b:' },
          { text: '(empty)' },
        ],
      },
    ]);
  });

  it('sends images and documents as bytes, including those given by URL', () => {
    const media: PromptMedia = new Map([
      ['https://example.com/a', { mediaType: 'image/webp', data: Buffer.from('webp') }],
    ]);
    const { messages } = encode(
      [
        user([
          { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA' } },
          { type: 'image_url', image_url: { url: 'https://example.com/a' } },
          {
            type: 'file',
            file: { filename: 'a.b.pdf', file_data: 'data:application/pdf;base64,BBBB' },
          },
          { type: 'file', file: { filename: 'a b.txt', file_data: 'data:text/plain;base64,CCCC' } },
          { type: 'text', text: 'Compare.' },
        ]),
      ],
      { media },
    );
    expect(messages[0]!.content).toEqual([
      { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
      { image: { format: 'webp', source: { bytes: Buffer.from('webp').toString('base64') } } },
      { document: { format: 'pdf', name: 'a b', source: { bytes: 'BBBB' } } },
      { document: { format: 'txt', name: 'a b 2', source: { bytes: 'CCCC' } } },
      { text: 'Compare.' },
    ]);
  });

  it('keeps images in tool results', () => {
    const source = { kind: 'inline', mediaType: 'image/png', data: 'AAAA' } as const;
    const { messages } = encodeCanonical([
      {
        role: 'tool',
        parts: [{ type: 'tool_result', toolCallId: 'a', parts: [{ type: 'image', source }] }],
      },
    ]);
    expect(messages[0]!.content).toEqual([
      {
        toolResult: {
          toolUseId: 'a',
          content: [{ image: { format: 'png', source: { bytes: 'AAAA' } } }],
        },
      },
    ]);
  });

  it.each([
    [{ type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,AAAA' } }, 'image/svg+xml'],
    [{ type: 'image_url', image_url: { url: 'data:constructor;base64,AAAA' } }, 'constructor'],
    [{ type: 'file', file: { file_data: 'data:application/zip;base64,AAAA' } }, 'application/zip'],
    [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, 'audio'],
  ])('rejects %j', (part, word) => {
    expect(refused(() => encode([user([part])]))).toMatchObject({
      failure: 'unsupported',
      param: 'messages',
      message: expect.stringContaining(word),
    });
  });

  it('rejects everything except text in system messages', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const messages = [{ role: 'system', content: [image] }, user('Hi')];
    expect(refused(() => encode(messages, { param: 'input' }))).toMatchObject({
      failure: 'unsupported',
      param: 'input',
    });
  });

  it("returns a model's own signed reasoning, and no other maker's", () => {
    const { messages } = encodeCanonical([
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Unsigned.' },
          { type: 'reasoning', text: 'Hm.', signature: 'maker:signature' },
          { type: 'reasoning', text: '', signature: 'maker:only' },
          { type: 'reasoning', text: '', signature: 'maker-redacted:AAAA' },
          { type: 'reasoning', text: 'Other.', signature: 'other:sig' },
          { type: 'text', text: 'Hello' },
        ],
      },
    ]);
    expect(messages[1]!.content).toEqual([
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'signature' } } },
      { reasoningContent: { reasoningText: { text: '', signature: 'only' } } },
      { reasoningContent: { redactedContent: 'AAAA' } },
      { text: 'Hello' },
    ]);
  });

  describe('cache points', () => {
    const marked: CanonicalMessage[] = [
      {
        role: 'system',
        parts: [{ type: 'text', text: 'Rules', cacheControl: { ttl: '1h' } }],
      },
      {
        role: 'user',
        parts: [
          { type: 'text', text: ' ', cacheControl: { ttl: '5m' } },
          { type: 'text', text: 'Hi', cacheControl: { ttl: '5m' } },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            toolCallId: 'a',
            parts: [{ type: 'text', text: 'x', cacheControl: { ttl: '5m' } }],
          },
        ],
      },
    ];
    const result = { toolResult: { toolUseId: 'a', content: [{ text: 'x' }] } };
    const point = { cachePoint: { type: 'default' } };

    it('follow the part to cache, but not blank text', () => {
      expect(encodeCanonical(marked)).toEqual({
        system: [{ text: 'Rules' }, { cachePoint: { type: 'default', ttl: '1h' } }],
        messages: [{ role: 'user', content: [result, point, { text: 'Hi' }, point] }],
      });
    });

    it('have no lifetime if the model supports only one', () => {
      const traits = converseTraits({ longCache: false });
      expect(encodeCanonical(marked, { traits }).system).toEqual([{ text: 'Rules' }, point]);
    });

    it('are omitted for models without caching', () => {
      const traits = converseTraits({ cachePoints: 'none' });
      expect(encodeCanonical(marked, { traits })).toEqual({
        system: [{ text: 'Rules' }],
        messages: [{ role: 'user', content: [result, { text: 'Hi' }] }],
      });
    });
  });
});
