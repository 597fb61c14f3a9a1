import { offsetOfOnly, scanJsonString } from '../event-text.js';
// Needles of keys begin after the opening quote: a chunk is full of quotes, and searching for
// something rarer is three times as fast. What is found inside of a longer key is parsed instead.
const DELTA_KEY = 'delta":';
const TEXT_DELTA = '"delta":{"content":"';
const FINISH_KEY = 'finish_reason":';
const NOT_FINISHED = '"finish_reason":null';
const FIRST_CHOICE = '"index":0';
const ERROR_KEY = 'error":';

/** Where the text stands in a frame, and how long it is. */
export interface TextDelta {
  /** Offset of the text's first character, behind the opening quote. */
  start: number;
  /** Offset of the closing quote. */
  end: number;
  /** Code points of the text. */
  characters: number;
}

/**
 * Recognises, without parsing it, the frame that streams are made of: one chunk that brings text
 * to the first choice and nothing else. The needles hold raw quotes, which inside of JSON strings
 * are always escaped, so they cannot be matched by what a model says.
 *
 * @param frame one server-sent event without its blank line, decoded as Latin-1
 * @returns undefined for a frame that looks different in any way and has to be parsed
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

/** Whether the one finish reason stands behind the delta and is null. */
function isUnfinished(frame: string, deltaEnd: number): boolean {
  if (frame.indexOf(FINISH_KEY) < deltaEnd) return false;
  const finishAt = frame.indexOf(NOT_FINISHED, deltaEnd);
  return finishAt !== -1 && !frame.includes(`"${FINISH_KEY}`, finishAt + NOT_FINISHED.length);
}

/** Most servers write the index right before the delta, where no search is needed. */
function isFirstChoice(frame: string, deltaAt: number): boolean {
  const besideAt = deltaAt - FIRST_CHOICE.length - ','.length;
  return frame.startsWith(`${FIRST_CHOICE},`, besideAt) || frame.includes(FIRST_CHOICE);
}
