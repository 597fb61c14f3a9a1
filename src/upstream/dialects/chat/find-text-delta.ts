import { offsetOfOnly } from './offset-of-only.js';
import { scanJsonString } from './scan-json-string.js';

const DELTA_KEY = '"delta":';
const TEXT_DELTA = '"delta":{"content":"';
const FINISH_KEY = '"finish_reason":';
const NOT_FINISHED = '"finish_reason":null';
const FIRST_CHOICE = '"index":0';
const ERROR_KEY = 'error":';

/**
 * Recognises, without parsing it, the frame that streams are made of: one chunk that brings text
 * to the first choice and nothing else. The needles hold raw quotes, which inside of JSON strings
 * are always escaped, so they cannot be matched by what a model says.
 *
 * @param frame one server-sent event without its blank line, decoded as Latin-1
 * @returns code points of the text; undefined for a frame that looks different in any way and has
 *   to be parsed
 */
export function findTextDelta(frame: string): number | undefined {
  if (!frame.startsWith('data: {') || frame.includes('\n')) return undefined;
  const deltaAt = offsetOfOnly(frame, DELTA_KEY);
  if (deltaAt === -1 || !frame.startsWith(TEXT_DELTA, deltaAt)) return undefined;
  const { end, characters } = scanJsonString(frame, deltaAt + TEXT_DELTA.length);
  if (end === -1 || frame[end + 1] !== '}') return undefined;
  const finishAt = offsetOfOnly(frame, FINISH_KEY);
  if (finishAt < end || !frame.startsWith(NOT_FINISHED, finishAt)) return undefined;
  if (!isFirstChoice(frame, deltaAt) || frame.includes(ERROR_KEY)) return undefined;
  return characters;
}

/** Most servers write the index right before the delta, where no search is needed. */
function isFirstChoice(frame: string, deltaAt: number): boolean {
  const besideAt = deltaAt - FIRST_CHOICE.length - ','.length;
  return frame.startsWith(`${FIRST_CHOICE},`, besideAt) || frame.includes(FIRST_CHOICE);
}
