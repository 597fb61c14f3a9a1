import { describe, expect, it } from '@jest/globals';
import { buildRequest, type CallInput } from './build-request';
import { codeFor } from './code';
import { NO_SETTINGS, type Surface, type Turn } from './conversation';
import { readTools } from './tools';

const IMAGE = { name: 'a.png', type: 'image/png', bytes: 3, data: 'AAAA' };
const PDF = { name: 'a.pdf', type: 'application/pdf', bytes: 3, data: 'BBBB' };
const TURNS: Turn[] = [
  { role: 'user', text: 'Look', files: [IMAGE, PDF] },
  {
    role: 'assistant',
    text: '',
    reasoning: 'hm',
    toolCalls: [{ id: 'c1', name: 'look', arguments: '{"at":"it"}' }],
    finishReason: 'tool_calls',
    call: null,
  },
  { role: 'tool', results: [{ id: 'c1', text: 'a cat' }] },
];

const bodyOf = (surface: Surface, input: Partial<CallInput> = {}) =>
  buildRequest(surface, {
    model: 'a/b',
    system: 'Be brief.',
    turns: TURNS,
    tools: [],
    settings: NO_SETTINGS,
    ...input,
  }).body;

describe(buildRequest.name, () => {
  it('builds a chat completions request', () => {
    expect(bodyOf('chat')).toEqual({
      model: 'a/b',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
            },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('builds a messages request', () => {
    expect(bodyOf('messages')).toMatchObject({
      max_tokens: 1024,
      system: 'Be brief.',
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
            },
            { type: 'document', title: 'a.pdf' },
            { type: 'text', text: 'Look' },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { at: 'it' } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a cat' }] },
      ],
    });
  });

  it('builds a responses request', () => {
    expect(bodyOf('responses')).toMatchObject({
      instructions: 'Be brief.',
      input: [
        {
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
            { type: 'input_file', filename: 'a.pdf' },
          ],
        },
        { type: 'function_call', call_id: 'c1', name: 'look' },
        { type: 'function_call_output', call_id: 'c1', output: 'a cat' },
      ],
      store: false,
    });
  });

  it('maps settings to the parameter names of each API', () => {
    const settings = {
      ...NO_SETTINGS,
      temperature: '0.5',
      max_tokens: '10',
      seed: '7',
      stop: 'a\nb',
      effort: 'low',
      tool_choice: 'required',
      stream: false,
    };
    const read = readTools('[{"name":"look","parameters":{"type":"object"}}]');
    const tools = 'tools' in read ? read.tools : [];
    const chat = bodyOf('chat', { settings, tools });
    expect(chat).toMatchObject({ temperature: 0.5, max_tokens: 10, seed: 7, stop: ['a', 'b'] });
    expect(chat).toMatchObject({ reasoning_effort: 'low', tool_choice: 'required' });
    expect(chat).not.toHaveProperty('stream');
    expect(bodyOf('messages', { settings, tools })).toMatchObject({
      stop_sequences: ['a', 'b'],
      tool_choice: { type: 'any' },
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
    });
    const responses = bodyOf('responses', { settings, tools });
    expect(responses).toMatchObject({ max_output_tokens: 10, reasoning: { effort: 'low' } });
    expect(responses).not.toHaveProperty('seed');
    expect(responses).not.toHaveProperty('stop');
  });

  it('sends invalid numbers unchanged so that the API reports them', () => {
    const settings = { ...NO_SETTINGS, temperature: 'hot' };
    expect(bodyOf('chat', { settings })).toMatchObject({ temperature: 'hot' });
  });
});

describe(readTools.name, () => {
  it.each([
    '[{"name":"a","description":"d","parameters":{"type":"object"}}]',
    '[{"name":"a","description":"d","input_schema":{"type":"object"}}]',
    '[{"type":"function","name":"a","description":"d","parameters":{"type":"object"}}]',
    '[{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"}}}]',
  ])('accepts a function in any format: %s', (text) => {
    const tool = { name: 'a', description: 'd', parameters: { type: 'object' } };
    expect(readTools(text)).toEqual({ tools: [tool] });
  });

  it('keeps vendor tools unchanged', () => {
    expect(readTools('[{"type":"web_search"}]')).toEqual({ tools: [{ type: 'web_search' }] });
  });

  it.each(['{', '{}', '[1]', '[{}]', '[{"name":"a","parameters":3}]'])(
    'returns an error for %s',
    (text) => {
      expect(readTools(text)).toEqual({ error: expect.any(String) });
    },
  );
});

describe(codeFor.name, () => {
  const request = buildRequest('chat', {
    model: 'a/b',
    system: '',
    turns: [{ role: 'user', text: `it's "so"`, files: [{ ...IMAGE, data: 'A'.repeat(1000) }] }],
    tools: [],
    settings: NO_SETTINGS,
  });

  it('reads the key from the environment, includes the address and omits files', () => {
    for (const language of ['curl', 'Python', 'JavaScript'] as const) {
      const code = codeFor(language, 'http://gateway.test', request);
      expect(code).toContain('GATEWAY_API_KEY');
      expect(code).toContain('http://gateway.test/v1');
      expect(code).toContain('1000 characters of base64');
      expect(code).not.toContain('A'.repeat(50));
    }
  });

  it('writes valid Python', () => {
    const code = codeFor('Python', 'http://gateway.test', request);
    expect(code).toContain('stream=True,');
    expect(code).toContain(`"text": "it's \\"so\\""`);
  });

  it('escapes quotes for the shell', () => {
    expect(codeFor('curl', 'http://gateway.test', request)).toContain(`it'\\''s`);
  });
});
