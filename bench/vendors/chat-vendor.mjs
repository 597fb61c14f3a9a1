import { piecesOf, pieceOf, textOf, usageOf } from '../answers.mjs';
import { userAtEndOf } from '../dialects/chat-in-prompt-dialect.mjs';
import { promptCharactersOf } from './prompt-characters.mjs';

/** OpenAI's chat completions. */
export const chatVendor = {
  /** Returns what the response depends on. */
  readCall({ user, model, messages }) {
    const characters = promptCharactersOf(messages.map(({ content }) => content));
    // Gateways that drop `user` get it at the end of the prompt.
    const named = user === undefined ? userAtEndOf(messages.at(-1).content) : undefined;
    return {
      user: user ?? named?.user,
      model: `${model}-2026-01-31`,
      promptCharacters: characters - (named?.characters ?? 0),
    };
  },

  wholeAnswer: ({ user, model, promptCharacters }) => ({
    id: `chatcmpl-${user}`,
    object: 'chat.completion',
    created: 1_790_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: textOf(user, promptCharacters),
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: usageObject(user),
    service_tier: 'default',
    system_fingerprint: 'fp_44709d6fcb',
  }),

  /** Yields every event of a stream: role, one per piece of text, finish, usage, `[DONE]`. */
  *events({ user, model, promptCharacters }) {
    const head =
      `data: {"id":"chatcmpl-${user}","object":"chat.completion.chunk","created":1790000000,` +
      `"model":"${model}","service_tier":"default","system_fingerprint":"fp_44709d6fcb",`;
    const choice = (delta, finish) =>
      `${head}"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],` +
      `"usage":null,"obfuscation":"k3Qz8"}\n\n`;

    yield choice('{"role":"assistant","content":"","refusal":null}', 'null');
    const pieces = piecesOf(user);
    for (let index = 0; index < pieces; index++) {
      yield choice(`{"content":"${pieceOf(user, index, promptCharacters)}"}`, 'null');
    }
    yield choice('{}', '"stop"');
    yield `${head}"choices":[],"usage":${JSON.stringify(usageObject(user))},"obfuscation":""}\n\n`;
    yield 'data: [DONE]\n\n';
  },
};

function usageObject(user) {
  const { promptTokens, completionTokens } = usageOf(user);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
