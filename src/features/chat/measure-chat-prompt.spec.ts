import { describe, expect, it } from '@jest/globals';
import { jsonBody } from '../../../test/support/chat-requests.js';
import { TOKENS_PER_MESSAGE } from '../../canonical/prompt-size.js';
import { assertValidBody, compileSchema } from '../../platform/http/validate-body.js';
import { chatCompletionSchema } from './chat-completion.schema.js';
import { measureChatPrompt } from './measure-chat-prompt.js';

const validate = compileSchema(chatCompletionSchema);

function measure(value: object) {
  const body = jsonBody(value);
  assertValidBody(validate, body);
  return measureChatPrompt(body);
}

function sizeOfUser(content: unknown) {
  return measure({ messages: [{ role: 'user', content }] }).size;
}

const NO_MEDIA = { images: 0, pages: 0, audioSeconds: 0 };

describe(measureChatPrompt.name, () => {
  it.each([
    ['ASCII', 'a'.repeat(300), 100, 300],
    ['CJK', '日本'.repeat(50), 100, 100],
    ['emoji', '🙂'.repeat(90), 120, 90],
    ['a mixture', `${'a'.repeat(30)}日本🙂`, 14, 33],
    ['lone surrogates', '\udc00'.repeat(100), 100, 100],
    ['nothing', '', 0, 0],
  ])('bounds the tokens of %s', (_, text, tokens, characters) => {
    expect(sizeOfUser(text)).toEqual({
      ...NO_MEDIA,
      tokens: tokens + TOKENS_PER_MESSAGE,
      characters,
    });
    expect(sizeOfUser([{ type: 'text', text }])).toEqual(sizeOfUser(text));
  });

  it.each([100, 100_000, 5_000_000])('counts an image of %d bytes as one image', (length) => {
    const url = `data:image/png;base64,${'A'.repeat(length)}`;
    const size = { ...NO_MEDIA, tokens: TOKENS_PER_MESSAGE, characters: 0, images: 1 };
    expect(sizeOfUser([{ type: 'image_url', image_url: { url } }])).toEqual(size);
    expect(sizeOfUser([{ type: 'image_url', image_url: url }])).toEqual(size);
  });

  it('counts files as pages and audio as seconds, not base64 as text', () => {
    const data = 'A'.repeat(160_000);
    const size = sizeOfUser([
      { type: 'file', file: { file_data: data } },
      { type: 'input_audio', input_audio: { data, format: 'wav' } },
    ]);
    const tokens = TOKENS_PER_MESSAGE;
    expect(size).toEqual({ tokens, characters: 0, images: 0, pages: 40, audioSeconds: 120 });
  });

  it('counts a file without data as a long one', () => {
    expect(sizeOfUser([{ type: 'file', file: { file_id: 'f' } }])).toMatchObject({ pages: 100 });
  });

  it.each([
    { type: 'image_url', image_url: { url: 'data:video/mp4;base64,AAAA' } },
    { type: 'video_url', video_url: { url: 'https://a.test/film' } },
  ])('counts a video as filling any context: $type', (part) => {
    expect(sizeOfUser([part])).toMatchObject({ images: 0, pages: 10_000 });
  });

  it('counts an unknown part as its text, with a minimum', () => {
    const sizeOf = (data: string) => sizeOfUser([{ type: 'hologram', data }]);
    expect(sizeOf('x').tokens).toBeGreaterThan(20_000);
    expect(sizeOf('so much '.repeat(60_000)).tokens).toBeGreaterThan(180_000);
    expect(sizeOf(`data:model/x;base64,${'A'.repeat(600_000)}`).tokens).toBeLessThan(21_000);
  });

  it('counts everything in a message that the model reads', () => {
    const text = 'x'.repeat(300);
    const messages = [
      { role: 'user', content: '', name: text },
      { role: 'assistant', refusal: text },
      { role: 'assistant', reasoning_content: text },
      { role: 'assistant', content: [{ type: 'refusal', refusal: text }] },
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: text } }] },
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: text, arguments: '' } }] },
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'custom', custom: { name: '', input: text } }],
      },
      { role: 'assistant', function_call: { name: 'f', arguments: text } },
      { role: 'user', content: '', Content: text },
      { role: 'assistant', thinking: text },
      { role: 'assistant', reasoning_details: [{ text }] },
      { role: 'tool', tool_call_id: 'a', content: text },
      { role: 'function', name: 'f', content: text },
    ];
    for (const message of messages) {
      const { tokens } = measure({ messages: [message] }).size;
      expect(tokens).toBeGreaterThanOrEqual(100 + TOKENS_PER_MESSAGE);
      expect(tokens).toBeLessThan(120 + TOKENS_PER_MESSAGE);
    }
  });

  it.each(['tools', 'functions', 'response_format', 'prediction'])(
    'counts the JSON of %s',
    (field) => {
      const base = { messages: [{ role: 'user', content: '' }] };
      const before = measure(base).size;
      // 300 characters each.
      const value = field === 'tools' ? [{ type: 'x'.repeat(287) }] : { type: 'x'.repeat(289) };
      const after = measure({ ...base, [field]: value }).size;
      expect(after.characters - before.characters).toBe(300);
      const isTools = field === 'tools' || field === 'functions';
      expect(after.tokens - before.tokens).toBe(isTools ? 700 : 100);
    },
  );

  it('ignores fields that no model reads', () => {
    const base = { messages: [{ role: 'user', content: '' }] };
    const size = measure({ ...base, metadata: { a: 'x'.repeat(300) }, user: 'y'.repeat(300) }).size;
    expect(size).toEqual(measure(base).size);
  });

  it.each<[string, object]>([
    ['content', { role: 'user' }],
    ['content', { role: 'user', content: null }],
    ['content', { role: 'system', content: null }],
    ['content', { role: 'tool', tool_call_id: 'a' }],
    ['tool_call_id', { role: 'tool', content: 'x' }],
    ['tool_call_id', { role: 'tool', content: 'x', tool_call_id: null }],
    ['content.0.type', { role: 'user', content: [{}] }],
    ['content.0.type', { role: 'user', content: [{ type: 1 }] }],
    ['content.1.text', { role: 'user', content: [{ type: 'text', text: '' }, { type: 'text' }] }],
    ['content.0.refusal', { role: 'assistant', content: [{ type: 'refusal' }] }],
    ['content.0.image_url.url', { role: 'user', content: [{ type: 'image_url' }] }],
    [
      'content.0.image_url.url',
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 1 } }] },
    ],
    ...['x', null, {}, { format: 'wav' }, { data: 1, format: 'wav' }].map(
      (input_audio): [string, object] => [
        'content.0.input_audio.data',
        { role: 'user', content: [{ type: 'input_audio', input_audio }] },
      ],
    ),
    ['content.0.input_audio.data', { role: 'user', content: [{ type: 'input_audio' }] }],
    [
      'content.0.input_audio.format',
      { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA' } }] },
    ],
    ['content.0.file.file_data', { role: 'user', content: [{ type: 'file' }] }],
    [
      'content.0.file.file_data',
      { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_id: null } }] },
    ],
    ['tool_calls.0.id', { role: 'assistant', tool_calls: [{ function: {} }] }],
    ['tool_calls.0.function.name', { role: 'assistant', tool_calls: [{ id: 'a' }] }],
    [
      'tool_calls.0.function.arguments',
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] },
    ],
    [
      'tool_calls.0.custom.input',
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'f' } }] },
    ],
  ])('rejects a message without a valid %s: %j', (field, message) => {
    const messages = [{ role: 'user', content: 'x' }, message];
    expect(() => measure({ messages })).toThrow(
      expect.objectContaining({ status: 400, param: `messages.1.${field}` }),
    );
  });

  it.each([
    { role: 'assistant' },
    { role: 'assistant', content: null },
    { role: 'assistant', content: [] },
    { role: 'function', name: 'f', content: null },
    { role: 'user', content: [] },
  ])('accepts %j', (message) => {
    expect(measure({ messages: [message] }).size.characters).toBeLessThan(5);
  });

  it('reports the first file in a vendor account', () => {
    const file = (file_id: string) => ({ type: 'file', file: { file_id } });
    const { accountBoundParam } = measure({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'x' }, file('one')] },
        { role: 'user', content: [file('two')] },
      ],
    });
    expect(accountBoundParam?.param).toBe('messages.0.content.1.file.file_id');
  });
});
