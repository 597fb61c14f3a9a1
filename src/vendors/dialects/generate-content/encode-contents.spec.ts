import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { modelTraits, olderModelTraits } from '../../../../test/support/model-traits.js';
import { processorMsOf } from '../../../../test/support/processor-ms.js';
import { encodeContents } from './encode-contents.js';
import type { ModelTraits } from './model-traits.js';

const encode = (
  messages: object[],
  traits: ModelTraits = modelTraits(),
  fields: Record<string, unknown> = {},
) => encodeContents(chatRequest({ messages, ...fields }), traits);

const call = (id: string, name = 'f', args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const result = (id: string, content: unknown = 'ok') => ({
  role: 'tool',
  tool_call_id: id,
  content,
});

describe(encodeContents.name, () => {
  it('sorts a long turn of many results once', async () => {
    const ids = Array.from({ length: 8_000 }, (_, index) => `c${index}`);
    const calls = { role: 'assistant', tool_calls: ids.map((id) => call(id)) };
    const results = ids.toReversed().map((id) => result(id));
    const messages = [{ role: 'user', content: 'a' }, calls, ...results];
    expect(await processorMsOf(() => encode(messages))).toBeLessThan(1_500);
    const { contents } = encode(messages);
    expect(contents.at(-1)!.parts).toHaveLength(8_000);
    expect(contents.at(-1)!.parts[0]).toMatchObject({ functionResponse: { id: 'c0' } });
  });

  it('collects system texts from any position and alternates roles', () => {
    expect(
      encode([
        { role: 'system', content: 'one' },
        { role: 'user', content: 'a' },
        { role: 'user', content: [{ type: 'text', text: 'b' }] },
        { role: 'developer', content: 'two' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: null, refusal: 'no' },
        { role: 'user', content: 'd' },
      ]),
    ).toEqual({
      systemInstruction: { parts: [{ text: 'one' }, { text: 'two' }] },
      contents: [
        { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
        { role: 'model', parts: [{ text: 'c' }, { text: 'no' }] },
        { role: 'user', parts: [{ text: 'd' }] },
      ],
    });
  });

  it('turns system messages without others into a user turn', () => {
    expect(encode([{ role: 'system', content: 'Go' }])).toEqual({
      systemInstruction: undefined,
      contents: [{ role: 'user', parts: [{ text: 'Go' }] }],
    });
  });

  it('omits empty texts, and rejects a conversation of nothing else', () => {
    const { contents } = encode([
      { role: 'user', content: '' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'a' },
    ]);
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'a' }] }]);
    expect(() => encode([{ role: 'user', content: '' }])).toThrow(
      expect.objectContaining({ failure: 'caller', param: 'messages' }),
    );
  });

  describe('media', () => {
    const parts = (part: object): unknown =>
      encode([{ role: 'user', content: [part] }]).contents[0]?.parts;
    const image = (url: string): object => ({ type: 'image_url', image_url: { url } });

    it.each<[object, object]>([
      [
        image('data:image/png;base64,QUJD'),
        { inlineData: { mimeType: 'image/png', data: 'QUJD' } },
      ],
      [
        image('https://a.example/b/c.JPG?x=1#y'),
        { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.example/b/c.JPG?x=1#y' } },
      ],
      [
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,QUJD', filename: 'a.pdf' },
        },
        { inlineData: { mimeType: 'application/pdf', data: 'QUJD' } },
      ],
      [
        { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
        { inlineData: { mimeType: 'audio/mp3', data: 'QUJD' } },
      ],
    ])('encodes %j', (part, expected) => {
      expect(parts(part)).toEqual([expected]);
    });

    it.each(['gs://operators-bucket/secret.png', 'file:///etc/passwd', 'ftp://a.example/b.png'])(
      "rejects %s, which could be the operator's file",
      (url) => {
        expect(() => parts(image(url))).toThrow(
          expect.objectContaining({ failure: 'caller', param: 'messages' }),
        );
      },
    );

    it('reports a URL without a recognizable type as unsupported', () => {
      expect(() => parts(image('https://a.example/picture'))).toThrow(
        expect.objectContaining({ failure: 'unsupported', param: 'messages' }),
      );
    });
  });

  describe('tool calls', () => {
    const parallel = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call('x', 'f', '{"a":1}'), call('y', 'g')] },
      result('y', 'second'),
      result('x', [
        { type: 'text', text: 'fir' },
        { type: 'text', text: 'st' },
      ]),
      { role: 'user', content: 'More' },
    ];

    it('puts the results of parallel calls into one turn, in call order, by name', () => {
      expect(encode(parallel).contents).toEqual([
        { role: 'user', parts: [{ text: 'Hi' }] },
        {
          role: 'model',
          parts: [
            {
              functionCall: { id: 'x', name: 'f', args: { a: 1 } },
              thoughtSignature: 'skip_thought_signature_validator',
            },
            { functionCall: { id: 'y', name: 'g', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'x', name: 'f', response: { output: 'first' } } },
            { functionResponse: { id: 'y', name: 'g', response: { output: 'second' } } },
            { text: 'More' },
          ],
        },
      ]);
    });

    it('omits ids and signature placeholders for models that do not support them', () => {
      const { contents } = encode(parallel, olderModelTraits());
      expect(contents[1]?.parts).toEqual([
        { functionCall: { name: 'f', args: { a: 1 } } },
        { functionCall: { name: 'g', args: {} } },
      ]);
      expect(contents[2]?.parts.slice(0, 2)).toEqual([
        { functionResponse: { name: 'f', response: { output: 'first' } } },
        { functionResponse: { name: 'g', response: { output: 'second' } } },
      ]);
    });

    it('uses the name of the latest call when an id repeats', () => {
      const { contents } = encode([
        { role: 'assistant', tool_calls: [call('x', 'f')] },
        result('x'),
        { role: 'assistant', tool_calls: [call('x', 'g')] },
        result('x'),
      ]);
      expect(contents[1]?.parts).toMatchObject([{ functionResponse: { name: 'f' } }]);
      expect(contents[3]?.parts).toMatchObject([{ functionResponse: { name: 'g' } }]);
    });

    it.each([
      ['', {}],
      [' ', {}],
      ['{"a":', { input: '{"a":' }],
      ['[1]', { input: '[1]' }],
      ['null', { input: 'null' }],
      ['free text', { input: 'free text' }],
    ])('turns the arguments %j into an object', (args, expected) => {
      const { contents } = encode([{ role: 'assistant', tool_calls: [call('x', 'f', args)] }]);
      expect(contents[0]?.parts).toMatchObject([{ functionCall: { args: expected } }]);
      expect(contents[0]?.parts[0]?.functionCall).toHaveProperty('args', expected);
    });

    it('rejects a result without its call, unless it names a tool', () => {
      const orphan = [{ role: 'user', content: 'Hi' }, result('f')];
      expect(() => encode(orphan)).toThrow(
        expect.objectContaining({ failure: 'caller', param: 'messages' }),
      );
      const tools = [{ type: 'function', function: { name: 'f' } }];
      expect(encode(orphan, modelTraits(), { tools }).contents[0]?.parts).toMatchObject([
        { functionResponse: { name: 'f' } },
        { text: 'Hi' },
      ]);
    });

    it('puts images into a result, or after it if the model does not support that', () => {
      const request = chatRequest();
      const picture = { kind: 'inline', mediaType: 'image/png', data: 'QUJD' } as const;
      const prompt = {
        ...request.prompt(),
        messages: [
          {
            role: 'assistant' as const,
            parts: [{ type: 'tool_call' as const, id: 'x', name: 'f', arguments: '{}' }],
          },
          {
            role: 'tool' as const,
            parts: [
              {
                type: 'tool_result' as const,
                toolCallId: 'x',
                isError: true,
                parts: [{ type: 'image' as const, source: picture }],
              },
            ],
          },
        ],
      };
      const media = { inlineData: { mimeType: 'image/png', data: 'QUJD' } };
      const response = { id: 'x', name: 'f', response: { error: '' } };
      const withPrompt = { ...request, prompt: () => prompt };
      expect(encodeContents(withPrompt, modelTraits()).contents[1]?.parts).toEqual([
        { functionResponse: { ...response, parts: [media] } },
      ]);
      const { id: _id, ...nameless } = response;
      expect(encodeContents(withPrompt, olderModelTraits()).contents[1]?.parts).toEqual([
        { functionResponse: nameless },
        media,
      ]);
    });
  });

  describe('signatures', () => {
    const modelPartsOf = (message: object): unknown =>
      encode([
        { role: 'user', content: 'Hi' },
        { role: 'assistant', ...message },
      ]).contents[1]?.parts;

    it('are returned on the reasoning, call or text that they came with', () => {
      expect(
        modelPartsOf({
          content: 'Bye',
          tool_calls: [call('x'), call('y')],
          reasoning_details: [
            { type: 'reasoning.text', text: 'hm', signature: 'google:AAA' },
            { type: 'reasoning.encrypted', data: 'google:text:BBB' },
            { type: 'reasoning.encrypted', id: 'x', data: 'google:CCC' },
          ],
        }),
      ).toEqual([
        { text: 'hm', thought: true, thoughtSignature: 'AAA' },
        { text: 'Bye', thoughtSignature: 'BBB' },
        { functionCall: { id: 'x', name: 'f', args: {} }, thoughtSignature: 'CCC' },
        { functionCall: { id: 'y', name: 'f', args: {} } },
      ]);
    });

    it('of a missing text are returned alone', () => {
      expect(
        modelPartsOf({
          content: '',
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'google:text:BBB' }],
        }),
      ).toEqual([{ text: '', thoughtSignature: 'BBB' }]);
    });

    it('of other makers are dropped together with their reasoning', () => {
      expect(
        modelPartsOf({
          content: 'Bye',
          tool_calls: [call('x')],
          reasoning_details: [
            { type: 'reasoning.text', text: 'hm', signature: 'anthropic:AAA' },
            { type: 'reasoning.text', text: 'unsigned' },
            { type: 'reasoning.encrypted', id: 'x', data: 'openai:CCC' },
          ],
        }),
      ).toEqual([
        { text: 'Bye' },
        {
          functionCall: { id: 'x', name: 'f', args: {} },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ]);
    });
  });
});
