/** Calls chat completions and reads their responses. */
export const chatDialect = {
  path: '/v1/chat/completions',

  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),

  /** Returns the body's JSON before and after the value of `user`. */
  encode({ alias, messages, isStreamed }) {
    const options = isStreamed ? { stream: true, stream_options: { include_usage: true } } : {};
    const rest = JSON.stringify({ ...options, temperature: 0.7, max_tokens: 2_000, messages });
    return { head: `{"model":"${alias}","user":"`, tail: `",${rest.slice(1)}` };
  },

  /** Returns a non-streamed response in the form of the stream readers. */
  readWhole(answer) {
    const [choice] = answer.choices;
    return {
      models: new Set([answer.model]),
      text: choice.message.content,
      hasFinished: choice.finish_reason === 'stop',
      isDone: true,
      usage: toUsage(answer.usage),
    };
  },

  openStream: () => new ChatStream(),
};

class ChatStream {
  /** All model names in the stream. */
  models = new Set();
  text = '';
  /** True once the model has finished. */
  hasFinished = false;
  /** True when the final event arrived and nothing after it. */
  isDone = false;
  usage;

  /** @param event one server-sent event without its trailing blank line */
  read(event) {
    this.isDone = event === 'data: [DONE]';
    if (this.isDone) return;
    const chunk = JSON.parse(event.slice('data: '.length));
    this.models.add(chunk.model);
    const choice = chunk.choices[0];
    if (choice?.delta.content) this.text += choice.delta.content;
    if (choice?.finish_reason) this.hasFinished = choice.finish_reason === 'stop';
    if (chunk.usage) this.usage = toUsage(chunk.usage);
  }

  findFault() {
    return undefined;
  }
}

function toUsage(usage) {
  return { promptTokens: usage?.prompt_tokens, completionTokens: usage?.completion_tokens };
}
