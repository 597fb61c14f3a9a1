import { describe, expect, it, jest } from '@jest/globals';
import { ANSWER_ID, responsesRequest } from '../../../test/support/responses-requests.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import {
  PromptTooLongError,
  ProviderError,
  RateLimitError,
} from '../../platform/errors/gateway-errors.js';
import { ResponsesStreamRenderer } from './responses.render.js';
import {
  opening,
  usage,
  settled,
  finish,
  text,
  call,
  args,
  read,
  streamOf,
  wholeOf,
  typesOf,
} from '../../../test/support/rendered-responses.js';

describe(ResponsesStreamRenderer.name, () => {
  it('sends nothing before the first content', () => {
    const request = responsesRequest();
    const renderer = new ResponsesStreamRenderer({ request, createdAt: 1 });
    expect(renderer.render(opening)).toBeUndefined();
    expect(renderer.render({ type: 'start', id: 'x' })).toBeUndefined();
    expect(renderer.render({ type: 'usage', usage })).toBeUndefined();
  });

  it('renders every event type with its index, whatever the text contains', () => {
    const said = 'a"b\\\r\n\n\u0000\ud800🙂';
    const events = streamOf([
      { type: 'reasoning', choice: 0, text: said },
      text(said),
      { type: 'refusal', choice: 0, text: said },
      { type: 'tool_call', choice: 0, index: 0, id: 'call_1', name: 'look' },
      { type: 'tool_arguments', choice: 0, index: 0, text: said },
      finish(),
      settled,
    ]);
    const pieces = events.filter(({ type }) => type.endsWith('.delta'));
    const itemId = (prefix: string, index: number) => `${prefix}_${'a1'.repeat(24)}${index}`;
    expect(pieces.map(({ type: _, sequence_number: __, ...members }) => members)).toEqual([
      { item_id: itemId('rs', 0), output_index: 0, summary_index: 0, delta: said },
      { item_id: itemId('msg', 1), output_index: 1, content_index: 0, delta: said, logprobs: [] },
      { item_id: itemId('msg', 1), output_index: 1, content_index: 1, delta: said },
      { item_id: itemId('fc', 2), output_index: 2, delta: said },
    ]);
  });

  it('accepts any number of log probabilities at once', () => {
    const logprobs = { content: Array.from({ length: 200_000 }, () => 1) };
    const said: CanonicalEvent = { type: 'text', choice: 0, text: 'a', logprobs };
    expect(streamOf([said, finish(), settled]).at(-1)).toMatchObject({
      type: 'response.completed',
    });
  });

  it('ignores additional choices', () => {
    const other: CanonicalEvent = { type: 'text', choice: 1, text: 'other' };
    const end: CanonicalEvent = { type: 'finish', choice: 1, reason: 'length' };
    expect(streamOf([text('Hi'), other, end, finish(), settled]).at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output_text: 'Hi' },
    });
  });

  it('completes items that arrive after the finish reason', () => {
    const call: CanonicalEvent = { type: 'tool_call', choice: 0, index: 0, id: 'a', name: 'f' };
    const events = streamOf([text('Hi'), finish(), text('late'), call, settled]);
    expect(events.filter(({ type }) => type === 'response.output_item.done')).toHaveLength(3);
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: Array.from({ length: 3 }, () => ({ status: 'completed' })) },
    });
  });

  it('streams text in the documented order', () => {
    const events = streamOf([text('Hel'), text('lo'), finish(), settled]);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const message = {
      id: `msg_${'a1'.repeat(24)}0`,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
    };
    expect(events[0]?.response).toMatchObject({
      id: ANSWER_ID,
      status: 'in_progress',
      output: [],
      usage: null,
    });
    expect(events[2]?.item).toEqual({
      ...message,
      status: 'in_progress',
      content: [{ type: 'output_text', text: '', annotations: [], logprobs: [] }],
    });
    expect(events[5]).toMatchObject({ item_id: message.id, content_index: 0, text: 'Hello' });
    expect(events[6]?.item).toEqual(message);
    expect(events[7]?.response).toMatchObject({
      status: 'completed',
      model: 'a/b',
      created_at: 1_700_000_000,
      output: [message],
      output_text: 'Hello',
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 15,
      },
    });
  });

  it('ends with the same object as the whole answer', () => {
    const events: CanonicalEvent[] = [
      { type: 'reasoning', choice: 0, text: 'Hm.' },
      text('Hello'),
      call(0, 'f'),
      args(0, '{}'),
      finish('tool_calls'),
      settled,
    ];
    // Both end in the same second.
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_700_000_005_000);
    expect(streamOf(events).at(-1)?.response).toEqual(wholeOf(events));
    now.mockRestore();
  });

  it('renders reasoning as a summary that ends with its signature', () => {
    const events = streamOf([
      { type: 'reasoning', choice: 0, text: 'Let me ' },
      { type: 'reasoning', choice: 0, text: 'think.' },
      { type: 'reasoning', choice: 0, text: '', signature: 'maker:one' },
      { type: 'reasoning', choice: 0, text: '', signature: 'openai:two' },
      text('Yes.'),
      finish(),
      settled,
    ]);
    expect(typesOf(events)).toEqual([
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'output_item.done',
      'output_item.added',
      'output_text.delta',
      'output_text.done',
      'output_item.done',
    ]);
    expect(events.at(-1)?.response?.output).toMatchObject([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Let me think.' }],
        encrypted_content: 'maker:one',
      },
      { type: 'reasoning', summary: [], encrypted_content: 'two' },
      { type: 'message' },
    ]);
  });

  it('separates parallel calls whose arguments are interleaved', () => {
    const events = streamOf([
      text('Wait.'),
      { ...call(0, 'f'), signature: 'maker:x' } as CanonicalEvent,
      call(1, 'g'),
      args(0, '{"a"'),
      args(1, '{}'),
      args(0, ':1}'),
      finish('tool_calls'),
      settled,
    ]);
    expect(events.at(-1)?.response).toMatchObject({
      status: 'completed',
      output: [
        { type: 'message', status: 'completed' },
        {
          type: 'function_call',
          status: 'completed',
          call_id: 'call_0',
          name: 'f',
          arguments: '{"a":1}',
          encrypted_content: 'maker:x',
        },
        { type: 'function_call', call_id: 'call_1', name: 'g', arguments: '{}' },
      ],
    });
    const indexes = events
      .filter(({ type }) => type === 'response.function_call_arguments.delta')
      .map(({ output_index, delta }) => [output_index, delta]);
    expect(indexes).toEqual([
      [1, '{"a"'],
      [2, '{}'],
      [1, ':1}'],
    ]);
  });

  it('sends custom tools their text', () => {
    const tools = [{ type: 'custom', name: 'shell' }];
    const events = streamOf(
      [call(0, 'shell'), args(0, '{"inp'), args(0, 'ut":"ls"}'), finish('tool_calls'), settled],
      { tools },
    );
    expect(typesOf(events)).toEqual([
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
    ]);
    expect(events.at(-1)?.response?.output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_0', name: 'shell', input: 'ls' },
    ]);
  });

  it('renders a refusal, alone and after text', () => {
    const refusal: CanonicalEvent = { type: 'refusal', choice: 0, text: 'No.' };
    const alone = streamOf([refusal, finish(), settled]);
    expect(typesOf(alone)).toEqual([
      'output_item.added',
      'refusal.delta',
      'refusal.done',
      'output_item.done',
    ]);
    const after = streamOf([text('Well, '), refusal, finish(), settled]);
    expect(typesOf(after)).toEqual([
      'output_item.added',
      'output_text.delta',
      'output_text.done',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'output_item.done',
    ]);
    expect(after.at(-1)?.response?.output).toMatchObject([
      {
        content: [
          { type: 'output_text', text: 'Well, ' },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ]);
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('ends with response.incomplete after %s', (reason, expected) => {
    const last = streamOf([text('Hel'), finish(reason), settled]).at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: expected },
        output: [{ status: 'incomplete' }],
        output_text: 'Hel',
      },
    });
  });

  it('completes an answer without output, and one with a vendor-specific reason', () => {
    expect(streamOf([finish(), settled]).at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: [], output_text: '' },
    });
    expect(streamOf([text('x'), finish('pause'), settled]).at(-1)?.type).toBe('response.completed');
  });

  it('sends log probabilities with their text', () => {
    const piece = { token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] };
    const logged: CanonicalEvent = {
      type: 'text',
      choice: 0,
      text: 'Hi',
      logprobs: { content: [piece] },
    };
    const events = streamOf([logged, finish(), settled], { top_logprobs: 1 });
    expect(events[3]).toMatchObject({ delta: 'Hi', logprobs: [piece] });
    expect(events.at(-1)?.response?.output).toMatchObject([{ content: [{ logprobs: [piece] }] }]);
  });

  it('fails in-band with the content so far', () => {
    const request = responsesRequest();
    const renderer = new ResponsesStreamRenderer({ request, createdAt: 1 });
    renderer.render(opening);
    const begun = read(String(renderer.render(text('Half'))));
    const [failed] = read(renderer.error(new ProviderError('It broke.')), begun.length);
    expect(failed).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_error', message: 'It broke.' },
        usage: null,
        output: [{ status: 'incomplete', content: [{ text: 'Half' }] }],
      },
    });
  });

  it("reports a prompt that is too long in OpenAI's stream form, and no other error", () => {
    const request = responsesRequest();
    const renderer = new ResponsesStreamRenderer({ request, createdAt: 1 });
    expect(renderer.refusal(new RateLimitError('model', 'Slow down.', 1))).toBeUndefined();
    const events = read(renderer.refusal(new PromptTooLongError('input', 'Too long.'))!);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'error',
      'response.failed',
    ]);
    const code = 'context_length_exceeded';
    const told = { code, param: 'input', message: expect.stringContaining(code) as unknown };
    expect(events[2]).toMatchObject({ ...told, error: { type: 'invalid_request_error', ...told } });
    expect(events[3]?.response?.error).toMatchObject({ code });
  });

  it('sends the opening events before a failure', () => {
    const request = responsesRequest();
    const renderer = new ResponsesStreamRenderer({ request, createdAt: 1 });
    const events = read(renderer.error(new RateLimitError('model', 'Slow down.', 1)));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
    ]);
    expect(events[2]?.response?.error).toMatchObject({ code: 'rate_limit_exceeded' });
  });

  it('sets store to false when the answer could not be stored', () => {
    const lost = { ...settled, recorded: false };
    expect(streamOf([text('x'), finish(), lost]).at(-1)?.response).toMatchObject({ store: false });
    expect(wholeOf([text('x'), finish(), { ...settled, recorded: true }])).toMatchObject({
      store: true,
    });
  });
});
