import { describe, expect, it } from '@jest/globals';
import type { CanonicalMessage, MessagePart } from '../../../canonical/canonical-request.js';
import { UpstreamError } from '../../upstream-error.js';
import { encodeChatMessages } from './encode-chat-messages.js';

/** Encodes as sent: undefined members disappear. */
function encode(...messages: CanonicalMessage[]): unknown {
  return JSON.parse(JSON.stringify(encodeChatMessages(messages, 'messages')));
}

const text = (words: string): MessagePart => ({ type: 'text', text: words });
const result = (toolCallId: string, ...texts: string[]): MessagePart => ({
  type: 'tool_result',
  toolCallId,
  parts: texts.map((words) => ({ type: 'text', text: words })),
});
const picture = { type: 'image', source: { kind: 'url', url: 'https://a.b/c.png' } } as const;
const encodedImage = { type: 'image_url', image_url: { url: 'https://a.b/c.png' } };

describe(encodeChatMessages.name, () => {
  it('encodes a single text as a string, and several as parts', () => {
    expect(
      encode(
        { role: 'system', parts: [text('Be brief.')] },
        { role: 'system', parts: [text('One.'), text('Two.')] },
        { role: 'user', name: 'Ann', parts: [text('Hi')] },
        { role: 'user', parts: [] },
      ),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'system',
        content: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.' },
        ],
      },
      { role: 'user', content: 'Hi', name: 'Ann' },
      { role: 'user', content: '' },
    ]);
  });

  it('keeps instructions at their position', () => {
    const messages = encode(
      { role: 'user', parts: [text('a')] },
      { role: 'system', parts: [text('b')] },
    );
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'system' }]);
  });

  it('encodes images, audio and documents', () => {
    const inline = { kind: 'inline', mediaType: 'image/png', data: 'aGk=' } as const;
    const pdf = { kind: 'inline', mediaType: 'application/pdf', data: 'cGRm' } as const;
    const note = {
      kind: 'inline',
      mediaType: 'text/plain',
      data: Buffer.from('Grüße').toString('base64'),
    } as const;
    expect(
      encode({
        role: 'user',
        parts: [
          picture,
          { type: 'image', source: inline, detail: 'low' },
          { type: 'audio', data: 'd2F2', format: 'wav' },
          { type: 'document', source: pdf, filename: 'a.pdf' },
          { type: 'document', source: pdf },
          { type: 'document', source: note },
          { type: 'document', source: note, filename: 'n.txt' },
        ],
      }),
    ).toEqual([
      {
        role: 'user',
        content: [
          encodedImage,
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'd2F2', format: 'wav' } },
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' },
          },
          {
            type: 'file',
            file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,cGRm' },
          },
          { type: 'text', text: 'Grüße' },
          { type: 'text', text: 'n.txt\n\nGrüße' },
        ],
      },
    ]);
  });

  it('encodes earlier answers: text, refusal and calls, but not reasoning', () => {
    const call = { type: 'tool_call', id: 'a', name: 'f', arguments: '{"x":1}' } as const;
    expect(
      encode(
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'hm', signature: 'maker:x' },
            text('Let me '),
            text('see.'),
            call,
          ],
        },
        { role: 'assistant', parts: [call] },
        { role: 'assistant', parts: [{ type: 'refusal', text: 'No.' }] },
        { role: 'assistant', parts: [{ type: 'reasoning', text: 'hm' }] },
      ),
    ).toEqual([
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
      },
      { role: 'assistant', content: null, refusal: 'No.' },
      { role: 'assistant', content: '' },
    ]);
  });

  it('encodes each tool result as its own message', () => {
    expect(
      encode(
        { role: 'tool', parts: [result('a', 'one', 'more'), result('b')] },
        { role: 'user', parts: [result('c', 'two'), text('And now?')] },
      ),
    ).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'one\nmore' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'tool', tool_call_id: 'c', content: 'two' },
      { role: 'user', content: 'And now?' },
    ]);
  });

  it('marks a failed tool result', () => {
    const failed = { ...result('a', 'no such city'), isError: true } as MessagePart;
    expect(encode({ role: 'tool', parts: [failed] })).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'Error: no such city' },
    ]);
  });

  it('moves images of tool results into a user message after all results', () => {
    const withPicture: MessagePart = {
      type: 'tool_result',
      toolCallId: 'a',
      parts: [{ type: 'text', text: 'see' }, picture],
    };
    const attachment = {
      role: 'user',
      content: [{ type: 'text', text: 'From the result of tool call a:' }, encodedImage],
    };
    expect(
      encode(
        { role: 'tool', parts: [withPicture] },
        { role: 'tool', parts: [result('b', 'two')] },
        { role: 'assistant', parts: [text('Nice.')] },
        { role: 'tool', parts: [withPicture] },
      ),
    ).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'see' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      attachment,
      { role: 'assistant', content: 'Nice.' },
      { role: 'tool', tool_call_id: 'a', content: 'see' },
      attachment,
    ]);
  });

  it('uses the same id for a call and its result, however long', () => {
    const id = 'x'.repeat(41);
    const [called, resulted] = encodeChatMessages(
      [
        {
          role: 'assistant',
          parts: [{ type: 'tool_call', id, name: 'f', arguments: '{}' }],
        },
        { role: 'tool', parts: [result(id, 'y')] },
      ],
      'messages',
    );
    const calledId = (called!.tool_calls as { id: string }[])[0]!.id;
    expect(calledId.length).toBeLessThanOrEqual(40);
    expect(resulted!.tool_call_id).toBe(calledId);
  });

  it.each<[string, CanonicalMessage]>([
    [
      'a document by URL',
      {
        role: 'user',
        parts: [{ type: 'document', source: { kind: 'url', url: 'https://a.b/c.pdf' } }],
      },
    ],
    ['an image in instructions', { role: 'system', parts: [picture] }],
    ['an image of the model', { role: 'assistant', parts: [picture] }],
  ])('rejects %s and names the field', (_name, message) => {
    let thrown: unknown;
    try {
      encodeChatMessages([message], 'input');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(UpstreamError);
    expect(thrown).toMatchObject({ failure: 'unsupported', param: 'input' });
  });
});
