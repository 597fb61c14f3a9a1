import { piecesOf, pieceOf, textOf, usageOf } from '../answers.mjs';
import { promptCharactersOf } from './prompt-characters.mjs';

/** OpenAI's responses, streamed. */
export const responsesVendor = {
  readCall: (body) => ({
    user: body.user,
    model: `${body.model}-2026-01-31`,
    promptCharacters: promptCharactersOf([
      body.instructions,
      ...body.input.map(({ content }) => content),
    ]),
    body,
  }),

  /**
   * Yields every event of a stream, numbered from 0: the response, its one message with one part, one
   * event per piece of text, then each of them as a whole.
   */
  *events({ user, model, promptCharacters, body }) {
    let number = 0;
    const event = (type, fields) =>
      `event: ${type}\n` +
      `data: ${JSON.stringify({ type, sequence_number: number++, ...fields })}\n\n`;
    const skeleton = responseObject(body, { user, model, status: 'in_progress' });
    const itemId = `msg_${user}`;
    const item = { id: itemId, type: 'message', status: 'in_progress', content: [] };
    const place = { item_id: itemId, output_index: 0, content_index: 0 };
    const part = { type: 'output_text', annotations: [], logprobs: [], text: '' };

    yield event('response.created', { response: skeleton });
    yield event('response.in_progress', { response: skeleton });
    yield event('response.output_item.added', {
      output_index: 0,
      item: { ...item, role: 'assistant' },
    });
    yield event('response.content_part.added', { ...place, part });
    const rest = `,${JSON.stringify(place).slice(1, -1)},"delta":"`;
    const pieces = piecesOf(user);
    for (let index = 0; index < pieces; index++) {
      yield (
        'event: response.output_text.delta\n' +
        `data: {"type":"response.output_text.delta","sequence_number":${number++}${rest}` +
        `${pieceOf(user, index, promptCharacters)}","logprobs":[],"obfuscation":"k3Qz8"}\n\n`
      );
    }
    const text = textOf(user, promptCharacters);
    const whole = { ...part, text };
    const message = { ...item, status: 'completed', content: [whole], role: 'assistant' };
    yield event('response.output_text.done', { ...place, text, logprobs: [] });
    yield event('response.content_part.done', { ...place, part: whole });
    yield event('response.output_item.done', { output_index: 0, item: message });
    yield event('response.completed', {
      response: responseObject(body, {
        user,
        model,
        status: 'completed',
        output: [message],
        usage: usageObject(user),
      }),
    });
  },
};

function responseObject(body, { user, model, status, output = [], usage = null }) {
  return {
    id: `resp_${user}`,
    object: 'response',
    created_at: 1_790_000_000,
    status,
    background: false,
    completed_at: status === 'completed' ? 1_790_000_001 : null,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: status === 'completed' ? 'default' : 'auto',
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage,
    user,
    metadata: body.metadata ?? {},
  };
}

function usageObject(user) {
  const { promptTokens, completionTokens } = usageOf(user);
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + completionTokens,
  };
}
