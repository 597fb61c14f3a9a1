/**
 * Responses of the hostile scenario's vendor in each dialect. `call` comes from the vendor's `readCall`;
 * usage is the vendor's own figure, which a plan can falsify.
 */
export const DIALECTS = {
  '/v1/chat/completions': {
    limitOf: (body) => body.max_completion_tokens ?? body.max_tokens ?? undefined,
    userOf: (body) => body.user,
    *start(call) {
      yield chunk(call, { role: 'assistant', content: '' });
    },
    text: (call, text) => chunk(call, { content: text }),
    *finish(call) {
      yield chunk(call, {}, 'stop');
    },
    *end(call) {
      if (call.usage !== undefined) {
        yield data({ ...chatHead(call, 'chat.completion.chunk'), choices: [], usage: call.usage });
      }
      yield 'data: [DONE]\n\n';
    },
    whole: (call, text) => ({
      ...chatHead(call, 'chat.completion'),
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: call.usage,
    }),
    usage: ({ input, output, reasoning }) => ({
      prompt_tokens: input,
      ...(output !== undefined && { completion_tokens: output }),
      total_tokens: input + (output ?? 0),
      ...(output !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    }),
  },

  '/v1/messages': {
    limitOf: (body) => body.max_tokens,
    userOf: (body) => body.metadata?.user_id,
    *start(call) {
      yield event('message_start', {
        message: {
          ...messageHead(call),
          content: [],
          stop_reason: null,
          usage: { input_tokens: call.input, output_tokens: 1 },
        },
      });
      yield event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    },
    text: (_call, text) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    *finish() {
      yield event('content_block_stop', { index: 0 });
    },
    *end(call) {
      const { output_tokens } = call.usage ?? {};
      yield event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens },
      });
      yield event('message_stop', {});
    },
    whole: (call, text) => ({
      ...messageHead(call),
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: call.usage,
    }),
    usage: ({ input, output }) => ({ input_tokens: input, output_tokens: output }),
  },

  '/v1/responses': {
    limitOf: (body) => body.max_output_tokens ?? undefined,
    userOf: (body) => body.user,
    *start(call) {
      const response = responseObject(call, { status: 'in_progress' });
      yield event('response.created', { sequence_number: 0, response });
      yield event('response.output_item.added', {
        sequence_number: 1,
        output_index: 0,
        item: { ...outputItem(call), status: 'in_progress' },
      });
      yield event('response.content_part.added', {
        sequence_number: 2,
        ...place(call),
        part: outputText(''),
      });
    },
    text: (call, text) =>
      event('response.output_text.delta', { sequence_number: 3, ...place(call), delta: text }),
    *finish(call, text) {
      yield event('response.output_text.done', { sequence_number: 4, ...place(call), text });
      yield event('response.output_item.done', {
        sequence_number: 5,
        output_index: 0,
        item: outputItem(call, text),
      });
    },
    *end(call, text) {
      yield event('response.completed', {
        sequence_number: 6,
        response: responseObject(call, {
          status: 'completed',
          output: [outputItem(call, text)],
          usage: call.usage,
        }),
      });
    },
    whole: (call, text) =>
      responseObject(call, {
        status: 'completed',
        output: [outputItem(call, text)],
        usage: call.usage,
      }),
    usage: ({ input, output, reasoning }) => ({
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + (output ?? 0),
    }),
  },
};

function data(value) {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function event(type, fields) {
  return `event: ${type}\n${data({ type, ...fields })}`;
}

function chunk(call, delta, finishReason = null) {
  const choice = { index: 0, delta, finish_reason: finishReason };
  return data({ ...chatHead(call, 'chat.completion.chunk'), choices: [choice] });
}

function chatHead({ id, model }, object) {
  return { id: `chatcmpl-${id}`, object, created: 1_790_000_000, model };
}

function messageHead({ id, model }) {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model };
}

function place({ id }) {
  return { item_id: `msg_${id}`, output_index: 0, content_index: 0 };
}

function outputText(text) {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}

function outputItem({ id }, text) {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: text === undefined ? [] : [outputText(text)],
  };
}

function responseObject({ id, model }, fields) {
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 1_790_000_000,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: null,
    ...fields,
  };
}
