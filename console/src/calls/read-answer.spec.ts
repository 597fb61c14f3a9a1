import { describe, expect, it } from '@jest/globals';
import { answerReader } from './read-answer';
import { SseReader } from './sse';

function read(surface: Parameters<typeof answerReader>[0], events: unknown[]) {
  const reader = answerReader(surface);
  const errors = events.map((event) => reader.event(event)).filter(Boolean);
  return { ...reader.answer, errors };
}

describe(answerReader.name, () => {
  const expected = {
    text: 'Hi there',
    reasoning: 'hm',
    toolCalls: [{ id: 'c1', name: 'look', arguments: '{"a":1}' }],
    errors: [],
  };

  it('assembles a chat completions stream', () => {
    const delta = (fields: object, finish_reason: string | null = null) => ({
      choices: [{ delta: fields, finish_reason }],
    });
    const call = (fields: object) => delta({ tool_calls: [{ index: 0, ...fields }] });
    const events = [
      delta({ role: 'assistant', content: 'Hi ' }),
      delta({ reasoning_content: 'hm' }),
      delta({ content: 'there' }),
      call({ id: 'c1', function: { name: 'look', arguments: '' } }),
      call({ function: { arguments: '{"a":' } }),
      call({ function: { arguments: '1}' } }),
      delta({}, 'tool_calls'),
      { choices: [], usage: {} },
    ];
    expect(read('chat', events)).toEqual({ ...expected, finishReason: 'tool_calls' });
  });

  it('assembles a messages stream', () => {
    const delta = (index: number, fields: object) => ({
      type: 'content_block_delta',
      index,
      delta: fields,
    });
    const events = [
      { type: 'message_start', message: {} },
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(1, { type: 'text_delta', text: 'Hi ' }),
      delta(1, { type: 'text_delta', text: 'there' }),
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'c1', name: 'look', input: {} },
      },
      delta(2, { type: 'input_json_delta', partial_json: '{"a":' }),
      delta(2, { type: 'input_json_delta', partial_json: '1}' }),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    ];
    expect(read('messages', events)).toEqual({ ...expected, finishReason: 'tool_use' });
  });

  it('assembles a responses stream', () => {
    const events = [
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'hm' },
      { type: 'response.output_text.delta', output_index: 1, delta: 'Hi ' },
      { type: 'response.output_text.delta', output_index: 1, delta: 'there' },
      {
        type: 'response.output_item.added',
        output_index: 2,
        item: { type: 'function_call', call_id: 'c1', name: 'look', arguments: '' },
      },
      { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"a":1}' },
      { type: 'response.completed', response: { status: 'completed' } },
    ];
    expect(read('responses', events)).toEqual({ ...expected, finishReason: 'completed' });
  });

  it('reads answers that are not streamed', () => {
    const chat = answerReader('chat');
    chat.whole({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] });
    expect(chat.answer).toMatchObject({ text: 'Hi', finishReason: 'stop' });
    const messages = answerReader('messages');
    messages.whole({
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 'c1', name: 'look', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
    });
    expect(messages.answer).toMatchObject({ text: 'Hi', toolCalls: expected.toolCalls });
    const responses = answerReader('responses');
    responses.whole({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
    });
    expect(responses.answer).toMatchObject({ text: 'Hi', finishReason: 'max_output_tokens' });
  });

  it.each([
    ['chat', { error: { message: 'no', param: 'model' } }],
    ['messages', { type: 'error', error: { message: 'no', param: 'model' } }],
    ['responses', { type: 'error', message: 'no', param: 'model' }],
    [
      'responses',
      { type: 'response.failed', response: { error: { message: 'no', param: 'model' } } },
    ],
  ] as const)('returns an error in the middle of a %s stream', (surface, event) => {
    expect(read(surface, [event]).errors).toEqual([{ message: 'no', param: 'model' }]);
  });

  it('ignores unknown events', () => {
    for (const surface of ['chat', 'messages', 'responses'] as const) {
      expect(read(surface, [undefined, null, 3, '[DONE]', {}, { choices: 3 }]).text).toBe('');
    }
  });
});

describe(SseReader.name, () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  it('parses events regardless of chunk boundaries', () => {
    const whole = bytes(
      'event: a\ndata: {"x":"ü"}\n\n: note\n\ndata: 1\r\ndata: 2\r\n\r\ndata: end',
    );
    for (let cut = 1; cut < whole.length; cut++) {
      const reader = new SseReader();
      const events = [
        ...reader.push(whole.slice(0, cut)),
        ...reader.push(whole.slice(cut)),
        ...reader.end(),
      ];
      expect(events).toEqual(['{"x":"ü"}', '1\n2', 'end']);
    }
  });
});
