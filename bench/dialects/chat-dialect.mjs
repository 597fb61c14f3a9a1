/** How the driver calls chat completions, and reads their answers. */
export const chatDialect = {
  path: '/v1/chat/completions',

  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),

  /** The body's JSON before and behind the value of `user`. */
  encode({ alias, messages, isStreamed }) {
    const options = isStreamed ? { stream: true, stream_options: { include_usage: true } } : {};
    const rest = JSON.stringify({ ...options, temperature: 0.7, max_tokens: 2_000, messages });
    return { head: `{"model":"${alias}","user":"`, tail: `",${rest.slice(1)}` };
  },

  /** A whole answer in the form that all dialects' stream readers have. */
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
  /** Every name that the stream gave its model. */
  models = new Set();
  text = '';
  /** Whether the model said that it had said all. */
  hasFinished = false;
  /** Whether the event that ends a stream came, and nothing after it. */
  isDone = false;
  usage;

  /** @param event one server-sent event without its blank line */
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
