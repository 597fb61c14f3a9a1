import { describe, expect, it } from '@jest/globals';
import { conversationOf, responsesRequest } from '../../../test/support/responses-requests.js';
import { responsesPrompt } from './responses.prompt.js';

const promptOf = (fields: object) => responsesRequest(fields).prompt();

describe(responsesPrompt.name, () => {
  it('reads a string as one message, after the instructions', () => {
    expect(promptOf({ instructions: 'Be kind.' }).messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
    ]);
  });

  it('reads every type of part', () => {
    const content = [
      { type: 'input_text', text: 'a' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
      { type: 'input_image', image_url: 'https://example.com/x.png' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,BBBB', filename: 'x.pdf' },
      { type: 'input_file', file_url: 'https://example.com/x.pdf' },
      { type: 'input_audio', input_audio: { data: 'CCCC', format: 'wav' } },
      { type: 'hologram' },
    ];
    const { messages, droppedFields } = promptOf({ input: [{ role: 'developer', content }] });
    expect(messages).toEqual([
      {
        role: 'system',
        parts: [
          { type: 'text', text: 'a' },
          {
            type: 'image',
            source: { kind: 'inline', mediaType: 'image/png', data: 'AAAA' },
            detail: 'low',
          },
          { type: 'image', source: { kind: 'url', url: 'https://example.com/x.png' } },
          {
            type: 'document',
            source: { kind: 'inline', mediaType: 'application/pdf', data: 'BBBB' },
            filename: 'x.pdf',
          },
          { type: 'document', source: { kind: 'url', url: 'https://example.com/x.pdf' } },
          { type: 'audio', data: 'CCCC', format: 'wav' },
        ],
      },
    ]);
    expect(droppedFields).toEqual(['input.0.content.6']);
  });

  it('merges the items of one model turn into one message', () => {
    const { messages } = promptOf({
      input: [
        { role: 'user', content: 'Weather?' },
        {
          type: 'reasoning',
          summary: [
            { type: 'summary_text', text: 'one' },
            { type: 'summary_text', text: 'two' },
          ],
          encrypted_content: 'gAAA',
        },
        { type: 'reasoning', summary: [] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Let me see.' }] },
        {
          type: 'function_call',
          call_id: 'c1',
          name: 'weather',
          arguments: '{}',
          encrypted_content: 'maker:signature',
        },
        { type: 'custom_tool_call', call_id: 'c2', name: 'shell', input: 'ls' },
        { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
        {
          type: 'custom_tool_call_output',
          call_id: 'c2',
          output: [{ type: 'input_text', text: 'x' }],
        },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      ],
    });
    expect(messages).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'one\n\ntwo', signature: 'openai:gAAA' },
          { type: 'text', text: 'Let me see.' },
          {
            type: 'tool_call',
            id: 'c1',
            name: 'weather',
            arguments: '{}',
            signature: 'maker:signature',
          },
          { type: 'tool_call', id: 'c2', name: 'shell', arguments: '{"input":"ls"}' },
        ],
      },
      {
        role: 'tool',
        parts: [
          { type: 'tool_result', toolCallId: 'c1', parts: [{ type: 'text', text: 'sunny' }] },
        ],
      },
      {
        role: 'tool',
        parts: [{ type: 'tool_result', toolCallId: 'c2', parts: [{ type: 'text', text: 'x' }] }],
      },
      { role: 'assistant', parts: [{ type: 'refusal', text: 'No.' }] },
    ]);
  });

  it('reads tools, and custom ones as functions with one argument', () => {
    const { tools, droppedFields } = promptOf({
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters: { a: 1 }, strict: true },
        { type: 'custom', name: 'c', format: { type: 'grammar' } },
        { type: 'web_search' },
      ],
    });
    expect(tools).toEqual([
      { name: 'f', description: 'd', parameters: { a: 1 }, strict: true },
      { name: 'c', parameters: expect.objectContaining({ required: ['input'] }) },
    ]);
    expect(droppedFields).toEqual(['tools.1.format', 'tools.2']);
  });

  it.each<[unknown, unknown]>([
    [undefined, undefined],
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ type: 'function', name: 'f' }, { name: 'f' }],
    [{ type: 'custom', name: 'f' }, { name: 'f' }],
  ])('reads the tool choice %j', (tool_choice, expected) => {
    expect(promptOf({ tool_choice }).toolChoice).toEqual(expected);
  });

  it.each(['any', { type: 'mystery' }])(
    'names the tool choice %j, which it cannot read',
    (choice) => {
      expect(promptOf({ tool_choice: choice })).toMatchObject({
        toolChoice: undefined,
        droppedFields: ['tool_choice'],
      });
    },
  );

  it('keeps only allowed tools', () => {
    const { tools, toolChoice } = promptOf({
      tools: ['f', 'g', 'h'].map((name) => ({ type: 'function', name })),
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'g' }],
      },
    });
    expect(tools).toEqual([{ name: 'g' }]);
    expect(toolChoice).toBe('required');
  });

  it('reads sampling and reasoning options', () => {
    const schema = { type: 'object' };
    expect(
      promptOf({
        temperature: 0.5,
        top_p: 0.9,
        top_logprobs: 3,
        parallel_tool_calls: false,
        reasoning: { effort: 'low', max_tokens: 100 },
        text: { format: { type: 'json_schema', name: 'n', schema, strict: true } },
        user: 'u',
        safety_identifier: 's',
      }),
    ).toMatchObject({
      sampling: { temperature: 0.5, topP: 0.9, logprobs: true, topLogprobs: 3 },
      parallelToolCalls: false,
      reasoning: { effort: 'low', maxTokens: 100 },
      responseFormat: { type: 'json_schema', name: 'n', schema, strict: true },
      endUser: 's',
      droppedFields: [],
    });
    const include = ['message.output_text.logprobs', 'reasoning.encrypted_content'];
    expect(promptOf({ include })).toMatchObject({
      sampling: { logprobs: true },
      droppedFields: [],
    });
    expect(promptOf({ text: { format: { type: 'json_object' } } }).responseFormat).toEqual({
      type: 'json_object',
    });
  });

  it('lists dropped fields', () => {
    const { droppedFields } = promptOf({
      input: [{ role: 'user', content: 'x' }, { type: 'computer_call' }],
      text: { verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      truncation: 'auto',
      include: ['web_search_call.results'],
      prompt_cache_key: 'k',
      novelty: 1,
      nothing: null,
    });
    expect(droppedFields).toEqual([
      'input.1',
      'prompt_cache_key',
      'novelty',
      'text.verbosity',
      'reasoning.summary',
      'truncation',
      'include',
    ]);
    expect(promptOf({ truncation: 'disabled', metadata: {}, store: false }).droppedFields).toEqual(
      [],
    );
  });

  it('numbers input items from 0, without the conversation', () => {
    const conversation = conversationOf({ type: 'web_search_call' }, { type: 'computer_call' });
    const input = [{ role: 'user', content: 'x' }, { type: 'web_search_call' }];
    expect(responsesRequest({ input }, conversation).prompt().droppedFields).toEqual([
      'previous_response_id',
      'input.1',
    ]);
  });
});
