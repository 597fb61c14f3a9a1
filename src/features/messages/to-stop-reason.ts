import type { FinishReason } from '../../canonical/canonical-event.js';

/** This dialect's words for why an answer ended; others are passed on as they are. */
const STOP_REASONS = new Map<FinishReason, string>([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['content_filter', 'refusal'],
]);

export interface AnswerEnd {
  finishReason: FinishReason | undefined;
  stopSequence: string | undefined;
  /** Whether the answer calls a tool. */
  callsTools: boolean;
}

/**
 * Why the answer ended. Some vendors say `stop` of an answer that calls a tool; in this dialect
 * that is `tool_use`, which clients wait for before they run the tool.
 */
export function toStopReason({ finishReason, stopSequence, callsTools }: AnswerEnd): string | null {
  if (finishReason === undefined) return null;
  if (finishReason === 'stop' && stopSequence !== undefined) return 'stop_sequence';
  if (finishReason === 'stop' && callsTools) return 'tool_use';
  return STOP_REASONS.get(finishReason) ?? finishReason;
}
