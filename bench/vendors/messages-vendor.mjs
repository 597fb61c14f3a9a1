import { piecesOf, pieceOf, usageOf } from '../answers.mjs';
import { promptCharactersOf } from './prompt-characters.mjs';

/** The vendor pads events with spaces, so that their lengths reveal nothing about their content. */
const PADDINGS = Array.from({ length: 24 }, (_, index) => ' '.repeat((index * 7) % 24));

/** Anthropic's messages, streamed. */
export const messagesVendor = {
  readCall: ({ model, metadata, system, messages }) => ({
    user: metadata.user_id,
    model: `${model}-2026-01-31`,
    promptCharacters: promptCharactersOf([system, ...messages.map(({ content }) => content)]),
  }),

  /** Yields every event of a stream: the message, its one block in pieces, the stop reason, the end. */
  *events({ user, model, promptCharacters }) {
    const { promptTokens, completionTokens } = usageOf(user);
    const inputUsage = {
      input_tokens: promptTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    };
    yield event('message_start', {
      message: {
        model,
        id: `msg_${user}`,
        type: 'message',
        role: 'assistant',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          ...inputUsage,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
          output_tokens: 1,
          service_tier: 'standard',
        },
      },
    });
    yield event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    yield 'event: ping\ndata: {"type": "ping"}\n\n';
    const head =
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,' +
      '"delta":{"type":"text_delta","text":"';
    const pieces = piecesOf(user);
    for (let index = 0; index < pieces; index++) {
      const padding = PADDINGS[index % PADDINGS.length];
      yield `${head}${pieceOf(user, index, promptCharacters)}"}${padding}}\n\n`;
    }
    yield event('content_block_stop', { index: 0 });
    yield event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...inputUsage, output_tokens: completionTokens },
    });
    yield event('message_stop', {});
  },
};

function event(type, fields) {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
