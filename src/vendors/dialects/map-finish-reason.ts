import type { FinishReason } from '../../canonical/canonical-event.js';

/** Vendor wire formats with their own finish reasons. */
export type FinishDialect = 'chat' | 'messages' | 'converse' | 'generate-content';

/**
 * Vendors' finish reasons, mapped to the interface's. The chat dialect's are the interface's own, except
 * for those of some servers. Unknown reasons are passed on unchanged, so no `stop` is ever invented.
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
    // Another call could continue the answer, but this one was cut at a limit.
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

/** Maps a vendor's finish reason to the interface's. */
export function mapFinishReason(dialect: FinishDialect, reason: string): FinishReason {
  const reasons = FINISH_REASONS[dialect];
  return Object.hasOwn(reasons, reason) ? reasons[reason]! : reason;
}
