import { countCodePoints } from '../../canonical/prompt-size.js';
import { isJsonObject, MAX_DEPTH, type JsonObject } from '../../platform/http/json-body.js';
import { measureJson } from '../../platform/http/json-scanner.js';
import { beyondLimit, unreadable } from '../upstream-error.js';

/** No answer of any model comes near; a larger count is a broken one. */
const MAX_TOKENS = 1_000_000_000;

/**
 * Thirty thousand tokens with the five likeliest beside each stay below it. So many are read in a second; the
 * 64 MB that an answer may have would hold twenty times as many, and stop everybody for a minute or fill the memory.
 */
const MAX_PARTS = 1_000_000;
/** What is shorter is neither deep enough nor much enough to do harm. */
const MIN_COUNTED_LENGTH = 4_096;

/**
 * The JSON that a vendor sent, of any shape.
 *
 * @param what what it should be, for the log: `an answer`, `a chunk`
 * @param status with which the vendor answered, where the failure is to say so
 * @throws UpstreamError `unreadable` for what is not JSON, is made of more than 1,000,000 objects, arrays, members and
 *   strings in arrays, or nests more than 200 deep
 */
export function parseAnswerJson(text: string, what: string, status?: number): unknown {
  assertReadable(text, what, status);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.name : String(error);
    throw unreadable(`${what} that is not JSON: ${reason}`, status);
  }
}

function assertReadable(text: string, what: string, status: number | undefined): void {
  if (text.length < MIN_COUNTED_LENGTH) return;
  const { parts, depth } = measureJson(text, MAX_PARTS);
  if (depth > MAX_DEPTH) throw beyondLimit(`${what} nested more than ${MAX_DEPTH} deep`, status);
  if (parts > MAX_PARTS) throw beyondLimit(`${what} of more than ${MAX_PARTS} parts`, status);
}

/**
 * The JSON object that a vendor sent.
 *
 * @param what what it should be, for the log: `an answer`, `a chunk`
 * @throws UpstreamError `unreadable` for anything else
 */
export function parseAnswerObject(text: string, what: string): JsonObject {
  const value = parseAnswerJson(text, what);
  if (isJsonObject(value)) return value;
  throw unreadable(`${what} that is no JSON object`);
}

/** A member that is to be an object; an empty one where it is anything else. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A member that is to be a list; an empty one where it is anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a member that is to be a list of them. */
export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value).filter(isJsonObject);
}

/** Code points of a member that is to be a text; 0 where it is anything else. */
export function codePointsOf(value: unknown): number {
  return typeof value === 'string' ? countCodePoints(value) : 0;
}

/** Whether a value is a whole number from 0 to `max`. */
export function isCount(value: unknown, max = Number.MAX_SAFE_INTEGER): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

/** A vendor's count of tokens, or of what is billed like them; undefined for nonsense. */
export function readTokenCount(value: unknown): number | undefined {
  return isCount(value, MAX_TOKENS) ? value : undefined;
}

/** More than any caller may ask for. */
const MAX_CHOICE_INDEX = 127;

/**
 * Which of an answer's choices it is.
 *
 * @param missing what it is where it is left out
 * @throws UpstreamError `unreadable` for what is no index
 */
export function readChoiceIndex(index: unknown, missing = 0): number {
  const read = index ?? missing;
  if (isCount(read, MAX_CHOICE_INDEX)) return read;
  throw unreadable('a choice with a broken index', 200);
}
