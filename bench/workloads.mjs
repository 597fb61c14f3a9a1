import { makeUser, WHOLE_ANSWER_PIECES } from './answers.mjs';

const SENTENCES =
  'The committee met in the old library and read the minutes of the meeting before.\n' +
  'Nobody remembered who had said "later", but everybody agreed that it had been said.\n' +
  'A list of open points was made, sorted by age, and handed on to the next session.\n';

/** Aliases are `bench/<model>`, one for each row, so that the log tells the rows apart. */
export const PROVIDER = 'bench';

/** 1 KB in, 1 KB out. */
export function smallChat(name) {
  return new Workload(name, { messages: conversation(2, 400) });
}

/** A long conversation: 40 messages, 200 KB in all. */
export function largeChat(name) {
  return new Workload(name, { messages: conversation(40, 5_000) });
}

/** The same with one character in a thousand outside ASCII, as typographic quotes are. */
export function largeUnicodeChat(name) {
  const messages = conversation(40, 5_000).map((message) => ({
    ...message,
    content: message.content.replace(/(.{1000})./gs, '$1’'),
  }));
  return new Workload(name, { messages });
}

/** A small prompt whose answer comes in so many chunks of text. */
export function streamedChat(name, pieces) {
  return new Workload(name, { messages: conversation(2, 400), isStreamed: true, pieces });
}

/** Requests of one kind, alike but for their `user`. */
class Workload {
  #head;
  #tail;
  #promptCharacters = 0;

  constructor(model, { messages, isStreamed = false, pieces = WHOLE_ANSWER_PIECES }) {
    this.alias = `${PROVIDER}/${model}`;
    this.model = model;
    this.isStreamed = isStreamed;
    this.pieces = pieces;
    for (const { content } of messages) this.#promptCharacters += content.length;
    const options = isStreamed ? { stream: true, stream_options: { include_usage: true } } : {};
    const rest = JSON.stringify({ ...options, temperature: 0.7, max_tokens: 2_000, messages });
    this.#head = Buffer.from(`{"model":"${this.alias}","user":"`);
    this.#tail = Buffer.from(`",${rest.slice(1)}`);
  }

  /** The `number`th request; `label` keeps apart what is asked of different targets. */
  request(label, number) {
    const user = makeUser(label, number, this.pieces);
    return {
      user,
      model: this.model,
      isStreamed: this.isStreamed,
      promptCharacters: this.#promptCharacters,
      body: Buffer.concat([this.#head, Buffer.from(user), this.#tail]),
    };
  }
}

function conversation(messages, charactersEach) {
  const text = SENTENCES.repeat(Math.ceil(charactersEach / SENTENCES.length));
  return Array.from({ length: messages }, (_, index) => ({
    role: index === 0 ? 'system' : index % 2 === 1 ? 'user' : 'assistant',
    content: text.slice(0, charactersEach),
  }));
}
