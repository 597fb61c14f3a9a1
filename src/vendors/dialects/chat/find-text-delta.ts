import { offsetOfOnly, scanJsonString } from '../event-text.js';
// Needles start after the key's opening quote: a chunk is full of quotes, and searching for something
// rarer is three times as fast. A match inside a longer key falls back to parsing.
const DELTA_KEY = 'delta":';
const TEXT_DELTA = '"delta":{"content":"';
const FINISH_KEY = 'finish_reason":';
const NOT_FINISHED = '"finish_reason":null';
const FIRST_CHOICE = '"index":0';
const ERROR_KEY = 'error":';

/** Position and length of the text in a frame. */
export interface TextDelta {
  /** Offset of the text's first character, after the opening quote. */
  start: number;
  /** Offset of the closing quote. */
  end: number;
  /** Code points of the text. */
  characters: number;
}

/**
 * Recognizes the most common frame without parsing it: one chunk with text for the first choice and
 * nothing else. The needles contain raw quotes, which JSON strings always escape, so text of the model
 * cannot match them.
 *
 * @param frame one server-sent event without its blank line, decoded as Latin-1
 * @returns undefined for a frame that differs in any way and needs parsing
 */
export function findTextDelta(frame: string): TextDelta | undefined {
  if (!frame.startsWith('data: {') || frame.includes('\n')) return undefined;
  const deltaAt = offsetOfOnly(frame, DELTA_KEY) - '"'.length;
  if (!frame.startsWith(TEXT_DELTA, deltaAt)) return undefined;
  const start = deltaAt + TEXT_DELTA.length;
  const { end, characters } = scanJsonString(frame, start);
  if (end === -1 || frame[end + 1] !== '}') return undefined;
  if (!isUnfinished(frame, end)) return undefined;
  if (!isFirstChoice(frame, deltaAt) || frame.includes(ERROR_KEY)) return undefined;
  return { start, end, characters };
}

/** Returns whether the only finish reason follows the delta and is null. */
function isUnfinished(frame: string, deltaEnd: number): boolean {
  if (frame.indexOf(FINISH_KEY) < deltaEnd) return false;
  const finishAt = frame.indexOf(NOT_FINISHED, deltaEnd);
  return finishAt !== -1 && !frame.includes(`"${FINISH_KEY}`, finishAt + NOT_FINISHED.length);
}

/** Checks the index. Most servers write it right before the delta, which avoids a search. */
function isFirstChoice(frame: string, deltaAt: number): boolean {
  const choiceAt = deltaAt - FIRST_CHOICE.length - ','.length;
  return frame.startsWith(`${FIRST_CHOICE},`, choiceAt) || frame.includes(FIRST_CHOICE);
}
