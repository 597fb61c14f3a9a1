import { makeUser, WHOLE_ANSWER_PIECES } from './answers.mjs';
import { chatDialect } from './dialects/chat-dialect.mjs';
import { messagesDialect } from './dialects/messages-dialect.mjs';
import { responsesDialect } from './dialects/responses-dialect.mjs';

const SENTENCES =
  'The committee met in the old library and read the minutes of the meeting before.\n' +
  'Nobody remembered who had said "later", but everybody agreed that it had been said.\n' +
  'A list of open points was made, sorted by age, and handed on to the next session.\n';

/**
 * The gateway's provider for each upstream dialect; OpenAI's has both of its dialects. An alias is
 * `<provider>/<model>`, one per row, so that the log distinguishes rows.
 */
export const PROVIDERS = { openai: 'bench', anthropic: 'bench-messages' };

/** 1 KB in, 1 KB out. */
export function smallChat(name) {
  return new Workload(name, { messages: conversation(2, 400) });
}

/** A long conversation: 40 messages, 200 KB in total. */
export function largeChat(name) {
  return new Workload(name, { messages: conversation(40, 5_000) });
}

/** The same with one non-ASCII character in a thousand, such as typographic quotes. */
export function largeUnicodeChat(name) {
  const messages = conversation(40, 5_000).map((message) => ({
    ...message,
    content: message.content.replace(/(.{1000})./gs, '$1’'),
  }));
  return new Workload(name, { messages });
}

/** A small prompt whose response has the given number of text chunks. */
export function streamedChat(name, pieces) {
  return new Workload(name, { messages: conversation(2, 400), isStreamed: true, pieces });
}

/** The same from a chat completions caller, served by a Messages API vendor. */
export function translatedChat(name, pieces) {
  return new Workload(name, {
    provider: PROVIDERS.anthropic,
    messages: conversation(2, 400),
    isStreamed: true,
    pieces,
  });
}

/** The same in that vendor's dialect. */
export function streamedMessage(name, pieces) {
  return new Workload(name, {
    provider: PROVIDERS.anthropic,
    dialect: messagesDialect,
    messages: conversation(2, 400),
    isStreamed: true,
    pieces,
  });
}

/** The same as a response, which is stored unless `store` is false. */
export function streamedResponse(name, pieces, { store } = {}) {
  return new Workload(name, {
    dialect: responsesDialect,
    messages: conversation(2, 400),
    isStreamed: true,
    pieces,
    store,
  });
}

/** Requests of one kind that differ only in their `user`. */
class Workload {
  #options;
  #head;
  #tail;
  #promptCharacters = 0;

  /**
   * @param messages the first is the system message
   * @param askedModel model name in requests, by default the gateway's alias
   */
  constructor(model, options) {
    const {
      provider = PROVIDERS.openai,
      dialect = chatDialect,
      messages,
      isStreamed = false,
      pieces = WHOLE_ANSWER_PIECES,
      store,
      askedModel,
    } = options;
    this.#options = options;
    this.alias = `${provider}/${model}`;
    this.model = model;
    this.dialect = dialect;
    this.isStreamed = isStreamed;
    this.pieces = pieces;
    this.store = store;
    for (const { content } of messages) this.#promptCharacters += content.length;
    const { head, tail } = dialect.encode({
      alias: askedModel ?? this.alias,
      messages,
      isStreamed,
      store,
    });
    this.#head = Buffer.from(head);
    this.#tail = Buffer.from(tail);
  }

  /** Returns the same requests with other options, such as another `dialect` or `askedModel`. */
  with(options) {
    return new Workload(this.model, { ...this.#options, ...options });
  }

  /** Returns the `number`th request; `label` separates requests to different targets. */
  request(label, number) {
    const user = makeUser(label, number, this.pieces);
    return {
      user,
      dialect: this.dialect,
      alias: this.alias,
      model: this.model,
      isStreamed: this.isStreamed,
      store: this.store,
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
