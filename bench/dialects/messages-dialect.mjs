import { readNamedEvent } from './event-fields.mjs';

/** Calls the Messages API and reads its streams. */
export const messagesDialect = {
  path: '/v1/messages',

  headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),

  encode({ alias, messages }) {
    const [system, ...turns] = messages;
    const rest = JSON.stringify({
      stream: true,
      temperature: 0.7,
      max_tokens: 2_000,
      system: system.content,
      messages: turns,
    });
    return { head: `{"model":"${alias}","metadata":{"user_id":"`, tail: `"},${rest.slice(1)}` };
  },

  openStream: () => new MessagesStream(),
};

/** Has the same fields as `ChatStream`. */
class MessagesStream {
  models = new Set();
  text = '';
  hasFinished = false;
  isDone = false;
  usage;
  #openBlocks = new Set();
  #fault;

  read(event) {
    const { name, data } = readNamedEvent(event);
    if (data.type !== name) this.#fault ??= `the event ${name} has the type ${data.type}`;
    this.isDone = name === 'message_stop';
    switch (name) {
      case 'message_start':
        this.models.add(data.message.model);
        break;
      case 'content_block_start':
        this.#openBlocks.add(data.index);
        break;
      case 'content_block_delta':
        if (!this.#openBlocks.has(data.index)) this.#fault ??= 'a piece belongs to no open block';
        this.text += data.delta.text;
        break;
      case 'content_block_stop':
        this.#openBlocks.delete(data.index);
        break;
      case 'message_delta':
        this.hasFinished = data.delta.stop_reason === 'end_turn';
        this.usage = {
          promptTokens: data.usage.input_tokens,
          completionTokens: data.usage.output_tokens,
        };
        break;
    }
  }

  /** Returns what is wrong with the order of events. */
  findFault() {
    return this.#openBlocks.size > 0 ? 'a block has not ended' : this.#fault;
  }
}
