import type { FinishReason } from '../../canonical/canonical-event.js';

/** The wire formats of vendors that have words of their own for why an answer ended. */
export type FinishDialect = 'chat' | 'messages' | 'converse' | 'generate-content';

/**
 * Every vendor's words for the end of an answer, in the interface's. The chat dialect's words are
 * the interface's own, but for those of some of its servers. A word that is not here is passed on as it is: no `stop` is ever invented.
 */
const FINISH_REASONS: Record<FinishDialect, Record<string, FinishReason>> = {
  chat: {
    eos: 'stop',
    model_length: 'length',
    model_context_window_exceeded: 'length',
    sensitive: 'content_filter',
  },
  messages: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool_calls',
    refusal: 'content_filter',
  },
  converse: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool_calls',
    guardrail_intervened: 'content_filter',
    content_filtered: 'content_filter',
  },
  'generate-content': {
    STOP: 'stop',
    MAX_TOKENS: 'length',
    // More could be had with another call; the answer is cut at a limit all the same.
    CONTINUATION: 'length',
    SAFETY: 'content_filter',
    RECITATION: 'content_filter',
    BLOCKLIST: 'content_filter',
    PROHIBITED_CONTENT: 'content_filter',
    SPII: 'content_filter',
    IMAGE_SAFETY: 'content_filter',
    IMAGE_PROHIBITED_CONTENT: 'content_filter',
    IMAGE_RECITATION: 'content_filter',
  },
};

/** A vendor's finish reason in the interface's words. */
export function mapFinishReason(dialect: FinishDialect, reason: string): FinishReason {
  const reasons = FINISH_REASONS[dialect];
  return Object.hasOwn(reasons, reason) ? reasons[reason]! : reason;
}
