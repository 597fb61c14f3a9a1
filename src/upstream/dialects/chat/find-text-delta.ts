import { offsetOfOnly } from './offset-of-only.js';
import { scanJsonString } from './scan-json-string.js';

const DELTA_KEY = '"delta":';
const TEXT_DELTA = '"delta":{"content":"';
const FINISH_KEY = '"finish_reason":';
const NOT_FINISHED = '"finish_reason":null';
const FIRST_CHOICE = '"index":0';
const ERROR_KEY = '"error":';
const USAGE_KEY = '"usage":';

/** The member that vendors put into every chunk before the one that brings the usage. */
export const NULL_USAGE = ',"usage":null';

export interface TextDelta {
  /** Code points of the text. */
  characters: number;
  /** Whether the frame has the `NULL_USAGE` member. */
  hasNullUsage: boolean;
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
  const deltaAt = offsetOfOnly(frame, DELTA_KEY);
  if (deltaAt === -1 || !frame.startsWith(TEXT_DELTA, deltaAt)) return undefined;
  const { end, characters } = scanJsonString(frame, deltaAt + TEXT_DELTA.length);
  if (end === -1 || frame[end + 1] !== '}') return undefined;
  const finishAt = offsetOfOnly(frame, FINISH_KEY);
  if (finishAt < end || !frame.startsWith(NOT_FINISHED, finishAt)) return undefined;
  if (!frame.includes(FIRST_CHOICE) || frame.includes(ERROR_KEY)) return undefined;

  const hasNullUsage = frame.includes(USAGE_KEY);
  if (hasNullUsage) {
    const usageAt = offsetOfOnly(frame, USAGE_KEY);
    if (usageAt === -1 || !frame.startsWith(NULL_USAGE, usageAt - 1)) return undefined;
  }
  return { characters, hasNullUsage };
}
