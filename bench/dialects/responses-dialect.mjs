import { readNamedEvent } from './event-fields.mjs';

/** Calls the Responses API and reads its streams. */
export const responsesDialect = {
  path: '/v1/responses',

  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),

  /** @param store left out of the body when undefined, which means true */
  encode({ alias, messages, store }) {
    const [system, ...turns] = messages;
    const rest = JSON.stringify({
      stream: true,
      store,
      temperature: 0.7,
      max_output_tokens: 2_000,
      instructions: system.content,
      input: turns.map(({ role, content }) => ({
        role,
        content: [{ type: 'input_text', text: content }],
      })),
    });
    return { head: `{"model":"${alias}","user":"`, tail: `",${rest.slice(1)}` };
  },

  openStream: ({ store }) => new ResponsesStream(store ?? true),
};

/** Has the same fields as `ChatStream`. */
class ResponsesStream {
  models = new Set();
  text = '';
  hasFinished = false;
  isDone = false;
  usage;
  #isStored;
  #id;
  #nextNumber = 0;
  #fault;

  /** @param isStored expected `store` of the response */
  constructor(isStored) {
    this.#isStored = isStored;
  }

  read(event) {
    const { name, data } = readNamedEvent(event);
    if (data.type !== name) this.#fault ??= `the event ${name} has the type ${data.type}`;
    if (data.sequence_number !== this.#nextNumber++) {
      this.#fault ??= `the event ${name} has the number ${data.sequence_number}`;
    }
    this.isDone = name === 'response.completed';
    if (name === 'response.output_text.delta') this.text += data.delta;
    if (data.response) this.#readResponse(data.response);
    if (this.isDone) this.#readEnd(data.response);
  }

  findFault() {
    return this.#fault;
  }

  #readResponse({ id, model, store }) {
    this.models.add(model);
    this.#id ??= id;
    if (id !== this.#id) this.#fault ??= 'the id of the response changes';
    if (store !== this.#isStored) this.#fault ??= `store is ${store}, not ${this.#isStored}`;
  }

  #readEnd({ status, output, usage }) {
    this.hasFinished = status === 'completed';
    if (output[0]?.content[0]?.text !== this.text) {
      this.#fault ??= 'the final response has another text than its pieces';
    }
    this.usage = { promptTokens: usage.input_tokens, completionTokens: usage.output_tokens };
  }
}
